import { describe, expect, it } from "vitest";
import { answerAgreement } from "./answerAgreement";

describe("answerAgreement", () => {
  it("compares numbers, letters, boxes and lines without differences of form", () => {
    expect(answerAgreement("It costs $1,000.", ["1000", "1000.0 dollars", "999"], "number")).toBeCloseTo(2 / 3, 12);
    expect(answerAgreement("Answer: B", ["(B)", "C"], "choice")).toBe(0.5);
    expect(answerAgreement("Thus \\boxed{x+1}", ["\\boxed{x + 1}", "x + 1"], "boxed")).toBe(0.5);
    expect(answerAgreement("Because\nParis", ["Hm\nparis."], "last-line")).toBe(1);
  });

  it("does not let two empty answers agree", () => {
    expect(answerAgreement("", [""], "whole")).toBeNull();
    expect(answerAgreement("", ["42"], "number")).toBe(0);
  });

  it("compares JSON by its structure, the arguments of tool calls too", () => {
    const call = (args: string) => JSON.stringify([{ function: { name: "book", arguments: args } }]);
    expect(
      answerAgreement('{"a": 1, "b": ["X"]}', ['{"b": ["x"], "a": 1.0}', '{"a": 1}', '{"a": 1, "b": ["x", "y"]}'], "whole"),
    ).toBeCloseTo(1 / 3, 12);
    expect(answerAgreement(call('{"day": 1, "night": 2}'), [call('{ "night": 2, "day": 1 }'), call('{"day": 2}')], "whole")).toBe(0.5);
  });

  it("compares tool calls without their ids, and takes all forms of no arguments as the same", () => {
    const call = (id: string, name: string, args: unknown) =>
      JSON.stringify([{ id, type: "function", function: { name, arguments: args } }]);
    const own = call("call-1", "now", "{}");
    expect(
      answerAgreement(own, [call("call-2", "now", ""), call("call-3", "now", undefined), call("call-1", "then", "{}")], "number"),
    ).toBeCloseTo(2 / 3, 12);
    expect(answerAgreement('[{"id": 1}]', ['[{"id": 2}]'], "whole")).toBe(0);
  });

  it("does not let JSON agree with prose, nor lists with objects", () => {
    expect(answerAgreement('{"a": 42}', ["42", '{"a": 42'], "number")).toBe(0);
    expect(answerAgreement("[]", ["{}"], "whole")).toBe(0);
  });

  it("ends on structures of any depth", () => {
    const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
    expect(answerAgreement(deep, [deep], "whole")).toBe(0);
  });
});
