import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalText } from "./canonicalVote";
import type { Extraction } from "./ensembleDocument";
import { extractionProblem, voteJudge, voteReader } from "./voteReader";

const number: Extraction = { kind: "number" };
const text: Extraction = { kind: "text" };
const box: Extraction = { kind: "boxed" };
const byPattern = (pattern: string): Extraction => ({ kind: "pattern", pattern });
const read = (extraction: Extraction, answer: string): string | null => voteReader(extraction)(answer);

describe("answers that are the same give the same vote", () => {
  test.each<[string, Extraction, readonly string[], string]>([
    ["a thousand", number, ["so 1,000", "1000 apples", "= 1000.0", "1e3", "**1 000**".replace(" ", "\u202f")], "1000"],
    ["a half", number, ["1/2", "0.50", ".5", "\\frac{1}{2}"], "0.5"],
    ["a third", number, ["1/3", "0.333333333", "0.33333333333333"], "0.333333333"],
    ["nothing", number, ["0", "-0", "0.0"], "0"],
    ["half of a hundred", number, ["50%", "50 percent", "50.0 %"], "50%"],
    [
      "a long number",
      number,
      ["123456789012345678901234567890", "123,456,789,012,345,678,901,234,567,890"],
      "123456789012345678901234567890",
    ],
    ["a box of a half", box, ["\\boxed{\\frac{1}{2}}", "$\\boxed{\\dfrac12}$", "\\boxed{1/2}", "\\boxed{0.5}"], "0.5"],
    ["a box of a thousand", box, ["\\boxed{1{,}000}", "\\boxed{1000\\text{ }}", "\\boxed{ 1,000 }"], "1000"],
    ["a letter", { kind: "choice" }, ["B", "(b)", "Answer: **B**", "The answer is B because A is wrong."], "B"],
    ["a line", text, ["I think.\nAnswer: **New York!**", "new  york", "“New York”."], "new york"],
    ["a length", text, ["5.0 km", "Answer: 5 km."], "5 km"],
    ["what a pattern finds", byPattern("(?i)verdict: (\\w+)"), ["Verdict: Yes", "verdict: no? VERDICT: yes"], "yes"],
  ])("%s", (_, extraction, answers, vote) => {
    expect(answers.map((answer) => read(extraction, answer))).toEqual(answers.map(() => vote));
  });
});

test.each<[string, Extraction, string, string]>([
  ["per cent is no plain number", number, "50%", "50"],
  ["nor a share", number, "50%", "0.5"],
  ["whole numbers differ by their last digit", number, "9007199254740993", "9007199254740992"],
  ["a box of roots", box, "\\boxed{\\sqrt{2}}", "\\boxed{\\sqrt{3}}"],
])("%s", (_, extraction, one, other) => {
  expect(read(extraction, one)).not.toBe(read(extraction, other));
});

test.each<[Extraction, string]>([
  [number, "none at all"],
  [{ kind: "choice" }, "A) or B)"],
  [box, "42"],
  [text, "\n\n"],
  [text, "..."],
  [byPattern("answer: (\\d+)"), "answer: many"],
  [byPattern("x*"), "none"],
  [number, "<think>It may be 42, or"],
])("off %j nothing is read by %j", (extraction, answer) => {
  expect(read(extraction, answer)).toBeNull();
});

test.each<[Extraction, string]>([
  [number, "It is 42."],
  [{ kind: "choice" }, "Answer: B"],
  [box, "\\boxed{42}"],
  [byPattern("\\d+"), "42"],
])("off %j only the end of a long answer is read", (extraction, said) => {
  const filler = (characters: number): string => " and".repeat(characters / 4);
  expect(read(extraction, `${said}${filler(70_000)}`)).toBeNull();
  expect(read(extraction, `${filler(8_000_000)}\n${said}${filler(12_000)}`)).not.toBeNull();
});

test("a line of more than a thousand characters is no vote", () => {
  expect([1000, 1001].map((length) => read(text, "x".repeat(length))?.length ?? null)).toEqual([1000, null]);
});

test("what a model thinks before it answers is no vote", () => {
  expect(read(number, "<think>Is it 41? No.</think>It is 42.")).toBe("42");
});

describe("a pattern", () => {
  test.each<[string, string, string]>([
    ["[0-9]+", "12 or 345", "345"],
    ["(?s)^.*?([A-D])", "It is A or B.", "A"],
    ["answer: (A)|option (B)", "answer: A, option B", "B"],
    ["(?m)^Answer: (.+)$", "Answer: one\nAnswer: two words\n", "two words"],
    ["(.+)$", "first\nlast line of all", "last line of all"],
  ])("/%s/ reads the last match of %j, its first group that took part", (pattern, answer, vote) => {
    expect(read(byPattern(pattern), answer)).toBe(vote);
  });

  test("is searched for from the end on, and a number far before it is still whole", () => {
    expect(read(byPattern("\\d+"), `the total is 1234. ${"And so on. ".repeat(400)}`)).toBe("1234");
  });

  test("tells outputs of programs apart by everything but blanks around them, and by case unless it ignores it", () => {
    const outputs = ["'Ab'", "'ab'", "Ab", "1.0", "1", "[1, 2]", "[1,2]"];
    expect(outputs.map((output) => read(byPattern("output: (.*)"), `output:   ${output} `))).toEqual(outputs);
    expect(["(?i)is (yes|no)", "(?s)(?is:is (yes|no))", "is ([Yy]es|No)"].map((pattern) => read(byPattern(pattern), "It is Yes"))).toEqual([
      "yes",
      "yes",
      "Yes",
    ]);
  });

  test.each<[string, RegExp]>([
    ["(a", /missing closing/],
    ["(?=a)b", /invalid or unsupported Perl syntax/],
    ["(a)\\1", /invalid escape/],
    ["((a{30}){30})", /repeats too much/],
  ])("/%s/ is refused in a sentence, and reads nothing", (pattern, problem) => {
    expect(extractionProblem(byPattern(pattern))).toMatch(problem);
    expect(extractionProblem(byPattern(pattern))).toMatch(/^[A-Z].*\.$/);
    expect(read(byPattern(pattern), "aaaa")).toBeNull();
  });

  test("that RE2 reads is no problem, nor is any other extraction", () => {
    for (const extraction of [byPattern("(a+)+b"), number, text, box]) expect(extractionProblem(extraction)).toBeNull();
  });

  test("finds what matching over and over finds, wherever it stands", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("\\d+", "[ab]+", "a(b)?", "x(\\d*)y", "(a|ab)(c|bcd)?"),
        fc.stringMatching(/^[abcdxy0-9 ]{0,60}$/),
        (pattern, answer) => {
          const last = [...answer.matchAll(new RegExp(pattern, "g"))].map(([whole, ...groups]) =>
            groups.length === 0 ? whole : groups.find((group) => group !== undefined),
          );
          const vote = last.filter((found) => found?.trim()).at(-1) ?? null;
          expect(read(byPattern(`(?s:${pattern})`), answer)).toEqual(vote?.trim() ?? null);
        },
      ),
    );
  });
});

/** Matching that retries everything from every character would take minutes on each of these. */
test("answers that loop on anything for 100,000 characters are read, by hostile patterns too", () => {
  const looped = [
    "a",
    "1",
    "1,",
    "1.",
    "1e",
    "(",
    "\\boxed{",
    "*a ",
    "Answer: ",
    "answer is ",
    "a\n",
    " ",
    "-",
    "{",
    "\\",
    "\\frac{1}{2}",
    "A) ",
    "<think>",
    "ab",
    "12 / ",
  ];
  const extractions = [
    number,
    text,
    box,
    { kind: "choice" } as const,
    ...["(a+)+b", "(a*)*$", "a(.*b)?", "(?:a|aa)+$", "(\\s*\\S+\\s*)+x", "(\\d+,?)+%"].map(byPattern),
  ];
  for (const piece of looped) {
    const answer = piece.repeat(Math.ceil(100_000 / piece.length));
    for (const extraction of extractions) {
      const vote = read(extraction, answer);
      expect(vote === null || vote.length <= 1000).toBe(true);
    }
  }
});

test("what is a vote already stays what it is", () => {
  expect(read(text, '\\" 0')).toBe("0");
  fc.assert(
    fc.property(fc.string({ maxLength: 80 }), (answer) => {
      const vote = read(text, answer);
      if (vote !== null) expect(canonicalText(vote)).toBe(vote);
    }),
  );
});

describe("a vote is held against a reference", () => {
  const isRight = (extraction: Extraction, answer: string, reference: string | null) =>
    voteJudge(extraction)(read(extraction, answer), reference);

  test.each<[Extraction, string, string]>([
    [number, "so it is 1,000.", "1000"],
    [number, "so it is 72", "She has 12 + 60 = 72 left.\n#### 72"],
    [{ kind: "choice" }, "Answer: B", "b"],
    [{ kind: "choice" }, "Answer: B", "“b”"],
    [{ kind: "choice" }, "Answer: B", "(B) because A is wrong"],
    [box, "it is \\boxed{\\frac{1}{2}}", "\\frac12"],
    [text, "I think.\nThe Hague.", "the  Hague"],
    ...["1,000", "0.50", "The Hague.", "[1, 2]", "New  York", "'abc'", "$5"].map((said): [Extraction, string, string] => [
      byPattern("Answer: (.*)"),
      `Answer: ${said}`,
      ` ${said}\n`,
    ]),
    [byPattern("Answer: (.*)"), "Answer: 1,000", "A thousand.\nAnswer: 1,000"],
    [byPattern("(?i)verdict: (\\w+)"), "Verdict: Yes", "YES"],
    [byPattern("^Answer: (.*)"), "Answer: Answer: 3", "Answer: 3"],
  ])("as %j reads both, and %j is %j", (extraction, answer, reference) => {
    expect(isRight(extraction, answer, reference)).toBe(true);
  });

  test.each<[Extraction, string, string | null, boolean | null]>([
    [number, "so it is 1,001.", "1000", false],
    [number, "I do not know", "1000", false],
    [byPattern("output: (.*)"), "output: ab", "Ab", false],
    [byPattern("output: (.*)"), "output: 1000", "1,000", false],
    [byPattern("(a"), "(a", "(a", false],
    [number, "42", null, null],
    [number, "none", null, null],
  ])("by %j %j beside %j is %s", (extraction, answer, reference, right) => {
    expect(isRight(extraction, answer, reference)).toBe(right);
  });

  test("and is right beside itself, and beside the answer that it was read off", () => {
    const patterns = ["(?m)^=(.*)$", "[A-Za-z]+", "(?i)is (\\w+)", "\\d[\\d,.]*", "^-(.*)"].map(byPattern);
    const pieces = [
      "Answer: ",
      "is ",
      "=",
      "-",
      "The Hague",
      "b",
      "12",
      "1,000",
      ".50",
      "$",
      "'",
      "\\boxed{",
      "}",
      "\\frac12",
      "%",
      " ",
      "\n",
      "*",
    ];
    fc.assert(
      fc.property(
        fc.constantFrom<Extraction>(number, text, box, { kind: "choice" }, ...patterns),
        fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((drawn) => drawn.join("")),
        (extraction, answer) => {
          const vote = read(extraction, answer);
          fc.pre(vote !== null);
          expect([vote, answer].map((reference) => isRight(extraction, answer, reference))).toEqual([true, true]);
        },
      ),
      { numRuns: 500 },
    );
  });
});
