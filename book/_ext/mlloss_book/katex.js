// Typesets formulas for katex.py: one JSON request a line in, one JSON answer a line out.
const katex = require(process.argv[2]);

require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { latex, displayMode } = JSON.parse(line);
    let answer;
    try {
      answer = { html: katex.renderToString(latex, { displayMode, strict: "error" }) };
    } catch (error) {
      answer = { error: error.message };
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  });
