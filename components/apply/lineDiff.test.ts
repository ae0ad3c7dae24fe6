import fc from "fast-check";
import { expect, it } from "vitest";
import { lineDiff, type TextLine } from "./lineDiff";

const side = (lines: readonly TextLine[], without: "+" | "-"): string =>
  lines
    .filter(({ sign }) => sign !== without)
    .map(({ text }) => text)
    .join("\n");

const changes = (lines: readonly TextLine[]): number => lines.filter(({ sign }) => sign !== "=").length;

/** Length of the longest common subsequence, by the textbook algorithm. */
function common(a: readonly string[], b: readonly string[]): number {
  const row = new Array<number>(b.length + 1).fill(0);
  for (const one of a) {
    let diagonal = 0;
    for (const [index, other] of b.entries()) {
      const above = row[index + 1] ?? 0;
      row[index + 1] = one === other ? diagonal + 1 : Math.max(above, row[index] ?? 0);
      diagonal = above;
    }
  }
  return row[b.length] ?? 0;
}

const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 14 });

it("gives both texts back and changes no more lines than it must", () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const { lines, shortest } = lineDiff(a.join("\n"), b.join("\n"));
      expect(side(lines, "+")).toBe(a.join("\n"));
      expect(side(lines, "-")).toBe(b.join("\n"));
      expect(shortest).toBe(true);
      expect(changes(lines)).toBe(a.length + b.length - 2 * common(a, b));
    }),
    { numRuns: 500 },
  );
});

it("shows a line that became another one as taken away and added", () => {
  expect(lineDiff("kind: Service\nreplicas: 1\nname: a\n", "kind: Service\nreplicas: 2\nname: a\n").lines).toEqual([
    { sign: "=", text: "kind: Service" },
    { sign: "-", text: "replicas: 1" },
    { sign: "+", text: "replicas: 2" },
    { sign: "=", text: "name: a" },
  ]);
});

it("has only additions of a text that is new, only removals of one that goes, and no difference in line ends", () => {
  expect(lineDiff(null, "a\nb\n").lines.map(({ sign }) => sign)).toEqual(["+", "+"]);
  expect(lineDiff("a\nb\n", null).lines.map(({ sign }) => sign)).toEqual(["-", "-"]);
  expect(changes(lineDiff("a\r\nb\r\n", "a\nb\n").lines)).toBe(0);
  expect(lineDiff(null, "").lines).toEqual([]);
});

it("replaces whole what differs too much, in bounded time, and says so", () => {
  const lines = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word} ${index}`).join("\n");
  const { lines: shown, shortest } = lineDiff(`same\n${lines("a")}\nend`, `same\n${lines("b")}\nend`);
  expect(shortest).toBe(false);
  expect(changes(shown)).toBe(40_000);
  expect(shown[0]).toEqual({ sign: "=", text: "same" });
});
