#!/bin/sh
# Prints the first Python of version 3.10 or newer; exits with 4 where there is none.
for python in python3 python3.13 python3.12 python3.11 python3.10; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
        echo "$python"
        exit 0
    fi
done
echo "Python 3.10 or newer is missing: apt-get install python3" >&2
exit 4
