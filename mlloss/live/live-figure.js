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

  /** The first value whose condition holds: where(value, condition, value, condition, ...). */
  function where(...parts) {
    for (let i = 0; i < parts.length; i += 2) if (parts[i + 1]) return parts[i];
    return NaN;
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
    sign: Math.sign,
    heaviside: (x, atZero) => (x > 0 ? 1 : x < 0 ? 0 : atZero),
    eq: (a, b) => a === b,
    ne: (a, b) => a !== b,
    lt: (a, b) => a < b,
    le: (a, b) => a <= b,
    gt: (a, b) => a > b,
    ge: (a, b) => a >= b,
    and: (...x) => x.every(Boolean),
    or: (...x) => x.some(Boolean),
    not: (x) => !x,
    where,
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
    if (Number.isNaN(value)) return "undefined";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const size = Math.abs(value);
    if (size < 1e-15) return (0).toFixed(digits); // the rounding of a sum
    if (!(size >= 10 ** -digits && size < 1e6)) {
      const [mantissa, exponent] = value.toExponential(2).split("e");
      const power = [...exponent.replace("+", "")].map((digit) => SUPERSCRIPTS[digit]).join("");
      return `${mantissa} × 10${power}`.replace("-", "−");
    }
    return value.toFixed(digits).replace("-", "−");
  }

  /** A slider's value with the decimals of its steps, also where a descent has moved it between them. */
  const onStep = (value, digits) => formatNumber(Number(value.toFixed(digits)), digits);

  /** The next of 1, 2, 4 and 8 times a power of ten; the same as mlloss.live.numbers.round_up. */
  function roundUp(value) {
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 4, 8, 10].find((step) => step * power >= value) * power;
  }

  const formatTick = (value) => String(Number(value.toPrecision(6))).replace("-", "−");

  const place = ([scale, offset], value) => scale * value + offset;
  const pair = (x, y) => `${x.toFixed(2)} ${y.toFixed(2)}`;
  const finite = (...numbers) => numbers.every(Number.isFinite);
  const near = (pixel) => Math.max(-1e4, Math.min(1e4, pixel)); // beyond the clip path all is alike
  const placesOf = ({ start, stop, count }) =>
    Array.from({ length: count }, (_, i) => start + (i * (stop - start)) / (count - 1));

  /** The line through the points, interrupted where a coordinate is not finite. */
  function line(points) {
    let d = "";
    let pen = "M";
    for (const [x, y] of points) {
      if (finite(x, y)) {
        d += pen + pair(near(x), near(y));
        pen = "L";
      } else {
        pen = "M";
      }
    }
    return d;
  }

  // An artist takes its specification, the scope of its symbols, and a function that finds its element in the picture.
  // It returns compute(), its numbers at the present setting, and show(numbers), which draws them.

  function overGrid(tree, grid, scope) {
    const inner = Object.create(scope, { [grid.variable]: { value: 0, writable: true } });
    const value = compile(tree, inner);
    const places = placesOf(grid);
    return () =>
      places.map((point) => {
        inner[grid.variable] = point;
        return value();
      });
  }

  function overPlane(tree, xGrid, yGrid, scope) {
    const inner = Object.create(scope, {
      [xGrid.variable]: { value: 0, writable: true },
      [yGrid.variable]: { value: 0, writable: true },
    });
    const value = compile(tree, inner);
    const [xs, ys] = [placesOf(xGrid), placesOf(yGrid)];
    return () =>
      ys.flatMap((y) => {
        inner[yGrid.variable] = y;
        return xs.map((x) => {
          inner[xGrid.variable] = x;
          return value();
        });
      });
  }

  const each = (trees, scope) => {
    const functions = trees.map((tree) => compile(tree, scope));
    return () => functions.map((number) => number());
  };

  function curve({ grid, y, axes }, scope, find) {
    const x = placesOf(grid).map((value) => place(axes.x, value));
    const path = find("path");
    return {
      compute: overGrid(y, grid, scope),
      show: (numbers) => path.setAttribute("d", line(numbers.map((value, i) => [x[i], place(axes.y, value)]))),
    };
  }

  function area({ grid, low, high, axes }, scope, find) {
    const x = placesOf(grid).map((value) => place(axes.x, value));
    const path = find("path");
    const [lower, upper] = [overGrid(low, grid, scope), overGrid(high, grid, scope)];
    return {
      compute: () => [...lower(), ...upper()],
      show(numbers) {
        const points = numbers.map((value, i) => [x[i % x.length], place(axes.y, value)]);
        path.setAttribute("d", line([...points.slice(0, x.length), ...points.slice(x.length).reverse()]));
      },
    };
  }

  const REACH = 8; // of a mark, for fingers; the playground's rows lie 13 apart, so it covers no other mark there

  function point({ numbers, axes, drag }, scope, find, home) {
    const use = find("use");
    const reach = document.createElementNS(use.namespaceURI, "circle");
    for (const [key, value] of Object.entries({ r: REACH, fill: "none", "pointer-events": "all" })) reach.setAttribute(key, value);
    if (drag) use.before(reach);
    return {
      compute: each(numbers, scope),
      show([x, y]) {
        home.toggleAttribute("hidden", !finite(x, y)); // hidden, it is no handle either
        const left = finite(x) ? near(place(axes.x, x)).toFixed(2) : 0;
        const top = finite(y) ? near(place(axes.y, y)).toFixed(2) : 0;
        use.setAttribute("x", left);
        use.setAttribute("y", top);
        reach.setAttribute("cx", left);
        reach.setAttribute("cy", top);
      },
    };
  }

  const HEAD_LENGTH = 7;
  const HEAD_HALF_WIDTH = 3.5;

  function arrow({ numbers, axes, head }, scope, find) {
    const path = find("path");
    return {
      compute: each(numbers, scope),
      show([x, y, dx, dy]) {
        const [x0, y0] = [place(axes.x, x), place(axes.y, y)];
        const [x1, y1] = [place(axes.x, x + dx), place(axes.y, y + dy)];
        const points = [[x0, y0], [x1, y1]];
        const length = Math.hypot(x1 - x0, y1 - y0);
        if (head && length > 0) {
          const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
          const scale = Math.min(1, (0.6 * length) / HEAD_LENGTH);
          const [bx, by] = [x1 - scale * HEAD_LENGTH * ux, y1 - scale * HEAD_LENGTH * uy];
          const [wx, wy] = [-uy * scale * HEAD_HALF_WIDTH, ux * scale * HEAD_HALF_WIDTH];
          points.push([bx + wx, by + wy], [x1, y1], [bx - wx, by - wy]);
        }
        path.setAttribute("d", line(points));
      },
    };
  }

  function bars({ numbers, width, axes }, scope, find) {
    const path = find("path");
    return {
      compute: each(numbers, scope),
      show(heights) {
        const outlines = heights.map((height, i) => {
          const [left, right] = [place(axes.x, i - width / 2), place(axes.x, i + width / 2)];
          const [foot, top] = [place(axes.y, 0), near(place(axes.y, height))];
          return Number.isFinite(top) ? `M${pair(left, foot)}H${right.toFixed(2)}V${top.toFixed(2)}H${left.toFixed(2)}Z` : "";
        });
        path.setAttribute("d", outlines.join(""));
      },
    };
  }

  function label({ numbers, text, digits, axes }, scope, find) {
    const element = find("text");
    element.removeAttribute("transform");
    return {
      compute: each(numbers, scope),
      show([x, y, ...value]) {
        element.toggleAttribute("hidden", !finite(x, y));
        if (!finite(x, y)) return;
        element.setAttribute("x", near(place(axes.x, x)).toFixed(2));
        element.setAttribute("y", near(place(axes.y, y)).toFixed(2));
        element.textContent = text + value.map((number) => formatNumber(number, digits)).join("");
      },
    };
  }

  /** The segments on which z, sampled at xs and ys, crosses `level`: linear along the sides of every cell. */
  function crossings(z, xs, ys, level) {
    const segments = [];
    const at = (i, j) => z[i * xs.length + j] - level;
    for (let i = 0; i + 1 < ys.length; i++) {
      for (let j = 0; j + 1 < xs.length; j++) {
        const corners = [[i, j], [i, j + 1], [i + 1, j + 1], [i + 1, j]];
        const found = [];
        for (let side = 0; side < 4; side++) {
          const [[i0, j0], [i1, j1]] = [corners[side], corners[(side + 1) % 4]];
          const [a, b] = [at(i0, j0), at(i1, j1)];
          if (a >= 0 === b >= 0) continue;
          const share = a / (a - b);
          found.push([xs[j0] + share * (xs[j1] - xs[j0]), ys[i0] + share * (ys[i1] - ys[i0])]);
        }
        for (let k = 0; k + 1 < found.length; k += 2) segments.push([found[k], found[k + 1]]);
      }
    }
    return segments;
  }

  function contours({ z, x_grid: xGrid, y_grid: yGrid, levels, axes }, scope, find) {
    const path = find("path");
    const [xs, ys] = [placesOf(xGrid), placesOf(yGrid)];
    return {
      compute: overPlane(z, xGrid, yGrid, scope),
      show(numbers) {
        const segments = levels.flatMap((level) => crossings(numbers, xs, ys, level));
        const onPage = ([x, y]) => [place(axes.x, x), place(axes.y, y)];
        path.setAttribute("d", segments.map((segment) => line(segment.map(onPage))).join(""));
      },
    };
  }

  function plane({ z, x_grid: xGrid, y_grid: yGrid, low, high, rgb, strength }, scope, find) {
    const image = find("image");
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [xGrid.count, yGrid.count];
    const context = canvas.getContext("2d");
    const pixels = context.createImageData(xGrid.count, yGrid.count);
    return {
      compute: overPlane(z, xGrid, yGrid, scope),
      show(numbers) {
        numbers.forEach((value, i) => {
          const full = Math.max(0, Math.min(1, (value - low) / (high - low))) || 0;
          pixels.data.set([...rgb, Math.round(255 * strength * full)], 4 * i);
        });
        context.putImageData(pixels, 0, 0);
        image.setAttributeNS("http://www.w3.org/1999/xlink", "href", canvas.toDataURL());
      },
    };
  }

  /** The course of a number during a descent, to the end of its axis; a setting made by hand begins it anew. */
  function trace({ numbers, axes, length }, scope, find) {
    const path = find("path");
    const value = compile(numbers[0], scope);
    let course = [];
    return {
      compute(descending) {
        course = descending ? [...course, value()].slice(0, length) : [value()];
        return course;
      },
      show(values) {
        const points = values.map((number, step) => [place(axes.x, step), place(axes.y, number)]);
        path.setAttribute("d", line(points.length > 1 ? points : [points[0], points[0]]));
      },
    };
  }

  function number({ numbers, digits }, scope, find) {
    const cell = find("dd");
    return {
      compute: compile(numbers[0], scope),
      show(result) {
        cell.textContent = formatNumber(result, digits);
      },
    };
  }

  const ARTISTS = { curve, area, point, arrow, bars, label, contours, plane, trace, number };

  // What differs between the kinds of controls: how a native element holds a number.
  const held = {
    range: { read: (input) => input.valueAsNumber, write: (input, value) => (input.value = value) },
    checkbox: { read: (input) => Number(input.checked), write: (input, value) => (input.checked = value === 1) },
    "select-one": {
      read: (input, { options }) => options[input.selectedIndex],
      write: (input, value, { options }) => (input.selectedIndex = options.indexOf(value)),
    },
  };

  const FRAME = 1000 / 60;

  class LiveFigure extends HTMLElement {
    #scope = {};
    #controls = new Map();
    #definitions = [];
    #artists = new Map();
    #velocities = new Map();
    #axes = [];
    #handles = [];
    #values = {};
    #spec = null;
    #running = 0;
    #watch = null;

    connectedCallback() {
      addEventListener("hashchange", this.#visit);
      if (this.#watch) return; // moved within the page
      // A figure that nobody has come near yet costs nothing.
      this.#watch = new IntersectionObserver(
        (entries) => {
          const visible = entries.at(-1).isIntersecting;
          if (visible) this.#wake();
          else this.#pause();
        },
        { rootMargin: "50%" },
      );
      this.#watch.observe(this);
      this.#visit();
    }

    disconnectedCallback() {
      removeEventListener("hashchange", this.#visit);
      this.#pause();
    }

    /** Makes the figure alive: trees become functions, controls get their listeners. */
    #wake() {
      if (this.#spec) return;
      this.#spec = JSON.parse(this.querySelector('script[type="application/json"]').textContent);
      const { controls, definitions, artists, axes, descent } = this.#spec;
      for (const control of controls) {
        const input = this.querySelector(`form [name="${control.name}"]`);
        const shown = this.querySelector(`[data-control="${control.name}"]`);
        this.#controls.set(control.name, { ...control, input, shown, held: held[input.type] });
        this.#scope[control.name] = control.value;
        input.addEventListener("input", () => {
          this.#pause();
          this.#follow({ [control.name]: held[input.type].read(input, control) });
        });
      }
      for (const [name, tree] of definitions) {
        this.#scope[name] = NaN;
        this.#definitions.push([name, compile(tree, this.#scope)]);
      }
      for (const artist of artists) {
        const home = this.querySelector(`[id="${artist.id}"]`);
        this.#artists.set(artist.name, ARTISTS[artist.kind](artist, this.#scope, (tag) => find(home, tag), home));
        if (artist.drag) this.#makeHandle(artist, home);
      }
      this.#axes = axes.map((axis) => this.#makeAxis(axis, artists));
      for (const [name, tree] of Object.entries(descent?.velocities ?? {})) {
        this.#velocities.set(name, compile(tree, this.#scope));
      }
      this.#listen(this.querySelector("form"));
      this.#draw({}, false);
      performance.mark("live-figure"); // how soon a figure is alive, for whoever wants to know
    }

    #listen(form) {
      form.addEventListener("submit", (event) => event.preventDefault());
      form.addEventListener("change", () => this.#announce());
      form.addEventListener("reset", (event) => {
        event.preventDefault();
        this.reset();
        this.#announce();
      });
      const actions = { step: () => this.#stepOnce(), run: () => this.#toggle(), link: () => this.#link(), copy: () => this.#copy() };
      this.addEventListener("click", (event) => actions[event.target.closest("[data-action]")?.dataset.action]?.());
      this.querySelector(".lf-code")?.addEventListener("toggle", () => this.#writeCode());
      for (const preset of this.querySelectorAll("[data-preset]")) {
        preset.addEventListener("click", () => {
          this.#pause();
          this.#follow({ ...this.#start, ...JSON.parse(preset.dataset.preset) });
          this.#announce();
        });
      }
    }

    get #start() {
      return Object.fromEntries(this.#spec.controls.map(({ name, value }) => [name, value]));
    }

    /** The controls' values by name. */
    get params() {
      this.#wake();
      return Object.fromEntries([...this.#controls.keys()].map((name) => [name, this.#scope[name]]));
    }

    /** The artists' numbers by name, as they are drawn now. */
    get values() {
      this.#wake();
      return { ...this.#values };
    }

    /** Sets controls: `set({name: value})`. A slider's value need not lie on its steps. */
    set(params) {
      this.#wake();
      for (const [name, value] of Object.entries(params)) this.#check(name, value);
      this.#draw(params, false);
    }

    /** Back to the start. */
    reset() {
      this.#pause();
      this.#follow(this.#start);
    }

    #check(name, value) {
      const control = this.#controls.get(name);
      if (!control) throw new RangeError(`no control "${name}"; there are ${[...this.#controls.keys()].join(", ")}`);
      const { options, start, stop } = control;
      const fits = options ? options.includes(value) : typeof value === "number" && value >= start && value <= stop;
      if (!fits) {
        throw new RangeError(`${name} = ${value} is ${options ? `none of ${options.join(", ")}` : `outside ${start} … ${stop}`}`);
      }
    }

    #draw(params, descending) {
      Object.assign(this.#scope, params);
      for (const control of this.#controls.values()) this.#showControl(control);
      for (const show of this.#handles) show();
      for (const [name, value] of this.#definitions) this.#scope[name] = value();
      for (const [name, artist] of this.#artists) this.#values[name] = artist.compute(descending);
      for (const fit of this.#axes) fit();
      for (const [name, artist] of this.#artists) artist.show(this.#values[name]);
      if (this.querySelector(".lf-code")?.open) this.#writeCode();
    }

    /** An axis whose upper end follows what is drawn, as a function that makes it fit. */
    #makeAxis({ low, high, artists: names, raised_by: raising, ticks }, artists) {
      const places = artists.filter(({ name }) => names.includes(name)).map(({ axes }) => axes);
      const texts = ticks.map((id) => find(this.querySelector(`[id="${id}"]`), "text"));
      const [foot, head] = places[0].ends;
      return () => {
        const highest = Math.max(...raising.flatMap((name) => this.#values[name]).filter(Number.isFinite));
        const end = highest > high ? roundUp(highest) : high;
        const scale = (head - foot) / (end - low);
        for (const axes of places) axes.y = [scale, foot - scale * low];
        texts.forEach((text, i) => (text.textContent = formatTick(low + ((end - low) * i) / (texts.length - 1))));
      };
    }

    #showControl(control) {
      const value = this.#scope[control.name];
      if (control.held.read(control.input, control) !== value) control.held.write(control.input, value, control);
      if (!control.shown) return;
      const text = onStep(value, control.digits) + (control.unit && ` ${control.unit}`);
      if (control.shown.textContent !== text) control.shown.textContent = text;
      control.input.setAttribute("aria-valuetext", text);
    }

    #follow(params) {
      this.#draw(params, false);
      this.#tell();
    }

    #tell() {
      this.dispatchEvent(new CustomEvent("params", { detail: this.params }));
    }

    /** Tells screen readers the new numbers, once a control has come to rest. */
    #announce(message) {
      const rows = [...this.querySelectorAll(".lf-numbers div")];
      const told = rows.map((row) => `${row.children[0].textContent}: ${row.children[1].textContent}`);
      this.querySelector("[role=status]").textContent = message ?? told.join("; ");
    }

    // Points that are dragged

    /** Lets the pointer drag a point, and the arrow keys move it. */
    #makeHandle({ drag, axes, label: word }, home) {
      const axis = drag.x ? "x" : "y";
      const control = this.#controls.get(drag[axis]);
      home.classList.add("lf-handle");
      for (const [key, value] of Object.entries({ tabindex: 0, role: "slider", "aria-label": word })) {
        home.setAttribute(key, value);
      }
      home.setAttribute("aria-orientation", axis === "x" ? "horizontal" : "vertical");
      this.#handles.push(() => this.#showHandle(home, control, Object.values(drag)));
      const moveTo = (params) => {
        this.#pause();
        this.#follow(params);
      };
      home.addEventListener("pointerdown", (event) => {
        if (event.button === 0) home.setPointerCapture(event.pointerId);
      });
      home.addEventListener("pointermove", (event) => {
        if (!home.hasPointerCapture(event.pointerId)) return;
        const svg = home.ownerSVGElement;
        const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
        const found = Object.entries(drag).map(([key, symbol]) => [symbol, this.#snap(symbol, (at[key] - axes[key][1]) / axes[key][0])]);
        moveTo(Object.fromEntries(found));
      });
      home.addEventListener("pointerup", () => this.#announce());
      home.addEventListener("keydown", (event) => {
        const moves = { ArrowLeft: ["x", -1], ArrowRight: ["x", 1], ArrowDown: ["y", -1], ArrowUp: ["y", 1] };
        const [along, steps] = { ...moves, Home: [axis, -Infinity], End: [axis, Infinity] }[event.key] ?? [];
        if (!along || event.altKey || event.ctrlKey || event.metaKey) return; // those are the browser's
        const symbol = drag[along] ?? drag[axis];
        const { start, stop, input } = this.#controls.get(symbol);
        const aim = this.#scope[symbol] + steps * Number(input.step);
        event.preventDefault();
        moveTo({ [symbol]: this.#snap(symbol, Math.max(start, Math.min(stop, aim))) });
        this.#announce();
      });
    }

    #snap(symbol, value) {
      const { start, stop, digits, input } = this.#controls.get(symbol);
      const step = Number(input.step);
      return Math.max(start, Math.min(stop, Number((start + Math.round((value - start) / step) * step).toFixed(digits))));
    }

    #showHandle(handle, { name, start, stop }, symbols) {
      const words = symbols.map((symbol) => onStep(this.#scope[symbol], this.#controls.get(symbol).digits));
      const state = { "aria-valuemin": start, "aria-valuemax": stop, "aria-valuenow": this.#scope[name], "aria-valuetext": words.join(", ") };
      for (const [key, text] of Object.entries(state)) handle.setAttribute(key, text);
    }

    // Gradient descent

    /** One step along the velocities; says whether anything moved. */
    #step() {
      const moved = {};
      for (const [name, velocity] of this.#velocities) {
        const { start, stop } = this.#controls.get(name);
        const next = Math.max(start, Math.min(stop, this.#scope[name] + velocity()));
        if (Math.abs(next - this.#scope[name]) > 1e-4) moved[name] = next;
      }
      this.#draw(moved, true);
      return Object.keys(moved).length > 0;
    }

    #stepOnce() {
      this.#pause();
      this.#step();
      this.#tell();
      this.#announce();
    }

    #toggle() {
      if (this.#running) {
        this.#pause();
      } else if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
        for (let i = 0; i < 100 && this.#step(); i++); // all at once, nothing flies
        this.#tell();
        this.#announce();
      } else {
        this.#showRunning(true);
        this.#running = requestAnimationFrame((time) => this.#frame(time));
      }
    }

    #frame(time, last = time - FRAME) {
      // The same pace on a fast display as on a slow one.
      if (time - last >= FRAME - 1) {
        last = time;
        if (!this.#step()) return this.#pause();
      }
      this.#running = requestAnimationFrame((next) => this.#frame(next, last));
      return undefined;
    }

    #pause() {
      if (!this.#running) return;
      cancelAnimationFrame(this.#running);
      this.#running = 0;
      this.#showRunning(false);
      this.#tell();
      this.#announce();
    }

    #showRunning(running) {
      this.querySelector('[data-action="run"]').textContent = running ? "Pause" : "Run";
    }

    // Setting and code to take away

    /** Takes the setting in the page's address, if it is meant for this figure; what does not fit is ignored. */
    #visit = () => {
      const address = new URLSearchParams(location.hash.slice(1));
      if (address.get("figure") !== this.getAttribute("name")) return;
      this.#wake();
      this.#pause();
      const params = this.#start;
      for (const [name, text] of address) {
        const value = text ? Number(text) : NaN;
        try {
          this.#check(name, value);
          params[name] = value;
        } catch {
          continue;
        }
      }
      this.#follow(params);
      this.scrollIntoView({ block: this.offsetHeight < innerHeight ? "center" : "start" });
    };

    #link() {
      const address = new URLSearchParams({ figure: this.getAttribute("name"), ...this.params });
      history.replaceState(null, "", `#${address}`);
      navigator.clipboard?.writeText(location.href).catch(() => {});
      this.#announce("The page's address now leads to this setting.");
    }

    #writeCode() {
      const text = this.#spec.code.replace(/\{(\w+)\}/g, (_, name) => String(Number(this.#scope[name].toPrecision(12))));
      this.querySelector(".lf-code code").textContent = text;
    }

    #copy() {
      const code = this.querySelector(".lf-code code");
      navigator.clipboard?.writeText(code.textContent).catch(() => {});
      getSelection().selectAllChildren(code);
      this.#announce("The code is selected and, where the browser allows it, copied.");
    }
  }

  /** The first `tag` in `home` that is drawn, not one that only defines a marker. */
  function find(home, tag) {
    if (home.localName === tag) return home;
    return home.querySelector(`:not(defs) > ${tag}`) ?? home.querySelector(tag);
  }

  if (!customElements.get("live-figure")) customElements.define("live-figure", LiveFigure);

  /** The anywidget front end: the same element, its controls' values shared with Python. */
  globalThis.renderLiveFigure = ({ model, el }) => {
    el.innerHTML = model.get("html");
    const figure = el.querySelector("live-figure");
    figure.set(model.get("params"));
    figure.addEventListener("params", (event) => {
      model.set("params", event.detail);
      model.save_changes();
    });
    const follow = () => {
      const [params, shown] = [model.get("params"), figure.params];
      // The figure's own news comes back too; drawn again, it would end the course of a descent.
      if (Object.keys(params).some((name) => params[name] !== shown[name])) figure.set(params);
    };
    model.on("change:params", follow);
    return () => model.off("change:params", follow);
  };
})();
