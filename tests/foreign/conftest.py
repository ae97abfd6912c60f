from __future__ import annotations

import pytest

from tests.foreign.support import Models, make_models


@pytest.fixture(scope="session")
def models() -> Models:
    return make_models()
