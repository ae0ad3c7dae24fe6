import { expect, it } from "vitest";
import { MAX_PROMPT_BYTES, readUploadAnswer, refusalOfPrompts } from "./uploadPrompts";

it("sends no empty file and none beyond 2 GB", () => {
  expect(refusalOfPrompts({ name: "a.jsonl", size: 0 })).toContain("is empty");
  expect(refusalOfPrompts({ name: "a.jsonl", size: MAX_PROMPT_BYTES + 1 })).toContain("Nothing was sent");
  expect(refusalOfPrompts({ name: "a.jsonl", size: MAX_PROMPT_BYTES })).toBeNull();
});

it("passes the studio's refusal on, and says so where the answer is none of the studio's", () => {
  expect(readUploadAnswer('{"message":"No line of it is a prompt."}', "a")).toEqual({ message: "No line of it is a prompt." });
  expect(readUploadAnswer("<html>504</html>", "a")).toMatchObject({ message: expect.stringContaining("could not be reached") });
  expect(readUploadAnswer('{"uploadId":"u","survey":{}}', "a.jsonl")).toEqual({ uploadId: "u", survey: {}, from: "a.jsonl" });
});
