import { expect, it } from "vitest";
import { splitCommand } from "./splitCommand";

it.each([
  ["python3 test.txt", ["python3", "test.txt"]],
  ["  sh   -c 'cat code.txt test.txt | python3 -' ", ["sh", "-c", "cat code.txt test.txt | python3 -"]],
  ['a"b c"d "it\'s"', ["ab cd", "it's"]],
  ["", []],
])("splits %j at blanks outside of quotes", (text, words) => {
  expect(splitCommand(text)).toEqual(words);
});
