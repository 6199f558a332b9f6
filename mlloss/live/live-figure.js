// A live figure: sliders move an SVG that matplotlib drew. One file for both homes, a book page (a classic script, so
// that it also works from file://) and Jupyter (the front end of mlloss.live.LiveFigure).
//
// The figure's numbers are expression trees made of SymPy expressions: a number, the name of a slider or of a curve's
// variable, or [operation, argument, ...]. They become closures once; a slider's move then only calls them.
(() => {
  "use strict";

  const sigmoid = (x) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));
  const softplus = (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

  function logsumexp(...x) {
    const largest = Math.max(...x);
    if (!Number.isFinite(largest)) return largest;
    let others = -1; // the largest term itself is counted by log1p
    for (const xi of x) others += Math.exp(xi - largest);
    return largest + Math.log1p(others);
  }

  const OPERATIONS = {
    add: (...x) => x.reduce((sum, xi) => sum + xi, 0),
    mul: (...x) => x.reduce((product, xi) => product * xi, 1),
    pow: Math.pow,
    exp: Math.exp,
    log: Math.log,
    max: Math.max,
    min: Math.min,
    abs: Math.abs,
    sigmoid,
    softplus,
    logsumexp,
  };

  /** The tree as a function of no arguments that reads its symbols from `scope`. */
  function compile(tree, scope) {
    if (typeof tree === "number") return () => tree;
    if (typeof tree === "string") {
      if (!(tree in scope)) throw new Error(`live-figure: unknown symbol "${tree}"`);
      return () => scope[tree];
    }
    const operation = OPERATIONS[tree[0]];
    if (!operation) throw new Error(`live-figure: unknown operation "${tree[0]}"`);
    const operands = tree.slice(1).map((operand) => compile(operand, scope));
    const [a, b] = operands;
    if (operands.length === 1) return () => operation(a());
    if (operands.length === 2) return () => operation(a(), b());
    return () => operation(...operands.map((operand) => operand()));
  }

  const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

  /** The same text as mlloss.live.artists.format_number. */
  function formatNumber(value, digits) {
    if (Number.isNaN(value)) return "not a number";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const size = Math.abs(value);
    if (size !== 0 && !(size >= 10 ** -digits && size < 1e6)) {
      const [mantissa, exponent] = value.toExponential(2).split("e");
      const power = [...exponent.replace("+", "")].map((digit) => SUPERSCRIPTS[digit]).join("");
      return `${mantissa} × 10${power}`.replace("-", "−");
    }
    return value.toFixed(digits).replace("-", "−");
  }

  const place = ([scale, offset], value) => scale * value + offset;
  const pair = (x, y) => `${x.toFixed(2)} ${y.toFixed(2)}`;

  // An artist takes its specification, the scope of the sliders and the element that holds the picture; it returns
  // compute(), its numbers at the present setting, and show(numbers), which draws them.

  function curve({ grid, y, id, axes }, scope, root) {
    const inner = Object.create(scope, { [grid.variable]: { value: 0, writable: true } });
    const ordinate = compile(y, inner);
    const step = (grid.stop - grid.start) / (grid.count - 1);
    const points = Array.from({ length: grid.count }, (_, i) => grid.start + i * step);
    const x = points.map((point) => place(axes.x, point));
    const path = root.querySelector(`[id="${id}"] path`);
    return {
      compute: () =>
        points.map((point) => {
          inner[grid.variable] = point;
          return ordinate();
        }),
      show(numbers) {
        let d = "";
        let pen = "M";
        numbers.forEach((number, i) => {
          if (!Number.isFinite(number)) {
            pen = "M";
            return;
          }
          const far = Math.max(-1e4, Math.min(1e4, place(axes.y, number))); // beyond the clip path all is alike
          d += `${pen}${pair(x[i], far)}`;
          pen = "L";
        });
        path.setAttribute("d", d);
      },
    };
  }

  function point({ numbers, id, axes }, scope, root) {
    const functions = numbers.map((tree) => compile(tree, scope));
    const use = root.querySelector(`[id="${id}"] use`);
    return {
      compute: () => functions.map((number) => number()),
      show([x, y]) {
        use.setAttribute("x", place(axes.x, x).toFixed(2));
        use.setAttribute("y", place(axes.y, y).toFixed(2));
      },
    };
  }

  const HEAD_LENGTH = 7;
  const HEAD_HALF_WIDTH = 3.5;

  function arrow({ numbers, id, axes, head }, scope, root) {
    const functions = numbers.map((tree) => compile(tree, scope));
    const path = root.querySelector(`[id="${id}"] path`);
    return {
      compute: () => functions.map((number) => number()),
      show([x, y, dx, dy]) {
        const [x0, y0] = [place(axes.x, x), place(axes.y, y)];
        const [x1, y1] = [place(axes.x, x + dx), place(axes.y, y + dy)];
        let d = `M${pair(x0, y0)}L${pair(x1, y1)}`;
        const length = Math.hypot(x1 - x0, y1 - y0);
        if (head && length > 0) {
          const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
          const scale = Math.min(1, (0.6 * length) / HEAD_LENGTH);
          const [bx, by] = [x1 - scale * HEAD_LENGTH * ux, y1 - scale * HEAD_LENGTH * uy];
          const [wx, wy] = [-uy * scale * HEAD_HALF_WIDTH, ux * scale * HEAD_HALF_WIDTH];
          d += `L${pair(bx + wx, by + wy)}L${pair(x1, y1)}L${pair(bx - wx, by - wy)}`;
        }
        path.setAttribute("d", d);
      },
    };
  }

  function number({ name, numbers, digits }, scope, root) {
    const value = compile(numbers[0], scope);
    const cell = root.querySelector(`[data-artist="${name}"]`);
    return {
      compute: value,
      show(result) {
        cell.textContent = formatNumber(result, digits);
      },
    };
  }

  const ARTISTS = { curve, point, arrow, number };

  class LiveFigure extends HTMLElement {
    #scope = {};
    #sliders = new Map();
    #artists = new Map();
    #values = {};

    connectedCallback() {
      if (this.#sliders.size) return; // moved within the page
      const spec = JSON.parse(this.querySelector('script[type="application/json"]').textContent);
      for (const slider of spec.sliders) {
        const input = this.querySelector(`input[name="${slider.name}"]`);
        const shown = this.querySelector(`[data-slider="${slider.name}"]`);
        this.#sliders.set(slider.name, { ...slider, input, shown });
        this.#scope[slider.name] = slider.value;
        input.addEventListener("input", () => this.#follow({ [slider.name]: input.valueAsNumber }));
      }
      for (const artist of spec.artists) {
        this.#artists.set(artist.name, ARTISTS[artist.kind](artist, this.#scope, this));
      }
      const form = this.querySelector("form");
      form.addEventListener("submit", (event) => event.preventDefault());
      form.addEventListener("change", () => this.#announce());
      form.addEventListener("reset", (event) => {
        event.preventDefault();
        this.reset();
        this.#announce();
      });
      this.set({});
      performance.mark("live-figure"); // how soon a figure is alive, for whoever wants to know
    }

    /** The sliders' values by name. */
    get params() {
      return { ...this.#scope };
    }

    /** The artists' numbers by name, as they are drawn now. */
    get values() {
      return { ...this.#values };
    }

    /** Moves sliders: `set({name: value})`. The value need not lie on the slider's steps. */
    set(params) {
      for (const [name, value] of Object.entries(params)) {
        const slider = this.#sliders.get(name);
        if (!slider) throw new RangeError(`no slider "${name}"; there are ${[...this.#sliders.keys()].join(", ")}`);
        if (typeof value !== "number" || !(value >= slider.start && value <= slider.stop)) {
          throw new RangeError(`${name} = ${value} lies outside ${slider.start} … ${slider.stop}`);
        }
      }
      Object.assign(this.#scope, params);
      for (const { name, input, shown, digits, unit } of this.#sliders.values()) {
        const text = formatNumber(this.#scope[name], digits) + (unit && ` ${unit}`);
        if (input.valueAsNumber !== this.#scope[name]) input.value = this.#scope[name];
        input.setAttribute("aria-valuetext", text);
        shown.textContent = text;
      }
      for (const [name, artist] of this.#artists) {
        this.#values[name] = artist.compute();
        artist.show(this.#values[name]);
      }
    }

    /** Back to the start. */
    reset() {
      this.#follow(Object.fromEntries([...this.#sliders.values()].map(({ name, value }) => [name, value])));
    }

    #follow(params) {
      this.set(params);
      this.dispatchEvent(new CustomEvent("params", { detail: this.params }));
    }

    /** Tells screen readers the new numbers, once a slider has come to rest. */
    #announce() {
      const rows = this.querySelectorAll(".lf-numbers div");
      const told = [...rows].map((row) => `${row.children[0].textContent}: ${row.children[1].textContent}`);
      this.querySelector("[role=status]").textContent = told.join("; ");
    }
  }

  if (!customElements.get("live-figure")) customElements.define("live-figure", LiveFigure);

  /** The anywidget front end: the same element, its sliders' values shared with Python. */
  globalThis.renderLiveFigure = ({ model, el }) => {
    el.innerHTML = model.get("html");
    const figure = el.querySelector("live-figure");
    figure.set(model.get("params"));
    figure.addEventListener("params", (event) => {
      model.set("params", event.detail);
      model.save_changes();
    });
    const follow = () => figure.set(model.get("params"));
    model.on("change:params", follow);
    return () => model.off("change:params", follow);
  };
})();
