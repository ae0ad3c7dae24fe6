import fc from "fast-check";

/** Texts that end a line, a quote, a document or a heredoc for one reader or another, or that a shell would run. */
const barbs = [
  ...["\n", "\r\n", "\r", "\t", "\u0085", "\u2028", "\u2029", "\ufeff", "\0", "\u001b[2J", "\u0007", "\u007f", "\ud800", "\u202e"],
  ...["'", '"', "`", "\\", "'\\''", "\\'", '\\"', "''", "$", "$$", "\\\n"],
  ...[
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "| touch pwned",
    "& touch pwned",
    "> pwned",
    "\ntouch pwned\n",
    "$PATH",
    "$((1+1))",
  ],
  ...["$(LWS_LEADER_ADDRESS)", "{model}", "{args}", "{node}", "$&", "%s", "!", "*", "?", "~", "[a]", "(", ")"],
  ...["<<'WEIR_END'", "\nWEIR_END\n", "\nEOF\n", "<<", "\n)\n", "\n;;\nesac\n", "#", " #", "\n#"],
  ...[
    "---\n",
    "\n---\n",
    "\n...\n",
    "- ",
    ": ",
    ":",
    "? ",
    "&a ",
    "*a",
    "!!python/object:os.system ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "|",
    ">",
    "@",
    "%YAML 1.1\n",
  ],
  ...[
    "yes",
    "no",
    "on",
    "y",
    "n",
    "null",
    "~",
    "true",
    "=",
    "1:30",
    "0x1f",
    "0o7",
    "1e3",
    ".inf",
    "2026-01-01",
    "-",
    "--",
    "-x",
    "--config=/etc/passwd",
  ],
  ...[
    "\nkind: Pod\nspec:\n  containers:\n  - securityContext: {privileged: true}\n",
    '", "privileged": true, "x": "',
    "</script>",
    "é",
    "模型",
    "👩‍🚀",
  ],
];

const piece = fc.oneof(
  { arbitrary: fc.constantFrom(...barbs), weight: 6 },
  { arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 6 }), weight: 2 },
  { arbitrary: fc.string({ minLength: 1, maxLength: 6 }), weight: 2 },
  { arbitrary: fc.constantFrom("llama-3.1-8b", "meta-llama/Llama-3.1-8B", "node1"), weight: 1 },
);

/** Names as an attacker would write them; one of some hundred is very long. */
export const hostileName: fc.Arbitrary<string> = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 5 }), fc.integer({ min: 0, max: 300 }))
  .map(([pieces, long]) => (long === 0 ? pieces.join("").padEnd(5000, "x") : pieces.join("")));

/** Names that no argument of a process can hold. */
export const isNoArgument = (name: string): boolean => /[\0\p{Cs}]/u.test(name);

/** Line separators and other characters that a reader of YAML may take for the end of a line or refuse. */
export const rawSpecial = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}]/u;
