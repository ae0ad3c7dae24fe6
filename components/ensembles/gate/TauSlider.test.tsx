import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { TauSlider } from "./TauSlider";

const stops = (count: number) => Array.from({ length: count }, (_, at) => ({ tau: (at + 1) / count, name: `n${at}`, says: `says ${at}` }));
const drawn = (count: number, at: number, marked: { at: number; word: string } | null = null) =>
  renderToStaticMarkup(<TauSlider label="Skip from" stops={stops(count)} at={at} marked={marked} onStop={() => {}} />);

it("says to who does not see it where it stands and what that means", () => {
  const markup = drawn(4, 1);
  expect(markup).toContain('aria-label="Skip from"');
  expect(markup).toContain('aria-valuetext="n1: says 1"');
  expect(markup).toContain('aria-valuemax="3"');
});

it("names every stop where there are few, and of many the ends, the chosen and the marked one", () => {
  const named = (markup: string) => [...markup.matchAll(/>(n\d+)</g)].map(([, name]) => name);
  expect(named(drawn(4, 0))).toEqual(["n0", "n1", "n2", "n3"]);
  const many = drawn(40, 20, { at: 10, word: "recommended" });
  expect(named(many)).toEqual(["n0", "n10", "n20", "n39"]);
  expect(many).toContain("recommended");
});

it("leaves out names that would lie upon the chosen one's", () => {
  expect(drawn(40, 12, { at: 11, word: "recommended" })).not.toContain(">n11<");
});
