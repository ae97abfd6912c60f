"use strict";
/* Tooltips for pointer and keyboard, and marking of shapes. All text is set as text, never as markup. */
(function () {
  const tip = document.getElementById("tip");

  function showTip(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.max(4, Math.min(x + 14, window.innerWidth - box.width - 4));
    const below = y + 16 + box.height < window.innerHeight;
    tip.style.left = left + "px";
    tip.style.top = Math.max(4, below ? y + 16 : y - box.height - 12) + "px";
  }

  function hideTip() {
    tip.hidden = true;
    for (const line of document.querySelectorAll(".cursor")) line.setAttribute("visibility", "hidden");
  }

  /* "operator*calls ..." -> the operator of a call */
  function operatorAt(text, call) {
    for (const run of text.split(" ")) {
      const [number, count] = run.split("*").map(Number);
      if (call < count) return number;
      call -= count;
    }
    return -1;
  }

  /* "call,low,high ..." -> the range at a call, null where there is nothing */
  function rangeAt(text, call) {
    let found = null;
    for (const run of text.split(" ")) {
      const [from, low, high] = run.split(",").map(Number);
      if (from > call) break;
      found = high > low ? [low, high] : null;
    }
    return found;
  }

  function callUnder(svg, event) {
    const box = svg.getBoundingClientRect();
    const unit = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
    const call = Math.floor((unit - svg.dataset.left) / svg.dataset.sx);
    return call >= 0 && call < Number(svg.dataset.calls) ? call : -1;
  }

  /* What holds at the call under the pointer, as further lines. */
  function atCall(svg, names, call, shape) {
    if (call < 0) return "";
    let text = "\nAt call " + call;
    if (svg.dataset.operators) {
      const number = operatorAt(svg.dataset.operators, call);
      text += ": " + (number < 0 ? "copy" : names[number]);
    }
    const range = shape && rangeAt(shape.dataset.runs, call);
    if (range) {
      const row = Number(shape.dataset.row);
      text += "\n  bytes " + range[0] + " to " + (range[1] - 1);
      if (row) text += ", " + (range[1] - range[0]) / row + " rows";
    }
    return text;
  }

  for (const svg of document.querySelectorAll(".drawing")) {
    const items = Array.from(svg.querySelectorAll("[aria-label][tabindex]"));
    const names = svg.dataset.names ? JSON.parse(svg.dataset.names) : [];
    const cursor = svg.querySelector(".cursor");
    /* The tooltip takes the place of the browser's own. */
    for (const item of items) item.querySelector("title").remove();

    svg.addEventListener("pointermove", (event) => {
      const shape = event.target.closest("[aria-label][tabindex]");
      const call = cursor ? callUnder(svg, event) : -1;
      if (cursor) {
        const x = (call + 0.5) * svg.dataset.sx;
        cursor.setAttribute("visibility", call < 0 ? "hidden" : "visible");
        cursor.setAttribute("transform", "translate(" + x + " 0)");
      }
      const text = (shape ? shape.getAttribute("aria-label").trim() : "") + atCall(svg, names, call, shape);
      if (text) showTip(text.trim(), event.clientX, event.clientY);
      else tip.hidden = true;
    });
    svg.addEventListener("pointerleave", hideTip);

    /* One stop for the tabulator per drawing; the arrow keys go on from there. */
    svg.addEventListener("keydown", (event) => {
      const at = items.indexOf(document.activeElement);
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const next = event.key === "Home" ? 0 : event.key === "End" ? items.length - 1 : at + step;
      if (at < 0 || !items[next]) return;
      event.preventDefault();
      items[at].setAttribute("tabindex", "-1");
      items[next].setAttribute("tabindex", "0");
      items[next].focus();
    });
    for (const item of items) {
      item.addEventListener("focus", () => {
        const box = item.getBoundingClientRect();
        showTip(item.getAttribute("aria-label").trim(), box.left + box.width / 2, box.top + box.height / 2);
      });
      item.addEventListener("blur", hideTip);
    }
  }

  for (const map of document.querySelectorAll(".map")) {
    const shapes = Array.from(map.querySelectorAll(".shape"));
    const buttons = Array.from(map.querySelectorAll("button"));
    let chosen = "";

    function choose(key, matches) {
      chosen = chosen === key ? "" : key;
      for (const shape of shapes) shape.classList.toggle("chosen", chosen !== "" && matches(shape));
      for (const button of buttons) button.setAttribute("aria-pressed", String(chosen !== "" && keyOf(button) === key));
      map.classList.toggle("choosing", chosen !== "");
    }

    function keyOf(element) {
      return element.dataset.shape !== undefined ? "shape " + element.dataset.shape : "kind " + element.dataset.kind;
    }

    function pick(element) {
      const shape = element.dataset.shape;
      choose(keyOf(element), (other) =>
        shape !== undefined ? other.dataset.shape === shape : other.dataset.kind === element.dataset.kind);
    }

    for (const button of buttons) button.addEventListener("click", () => pick(button));
    for (const shape of shapes) {
      shape.addEventListener("click", () => pick(shape));
      shape.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        pick(shape);
      });
    }
  }

  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
  /* On paper everything is unfolded but the long tables. */
  window.addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details:not(.list)")) part.open = true;
  });
}());
