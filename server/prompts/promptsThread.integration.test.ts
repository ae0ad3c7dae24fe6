import { afterAll, expect, it } from "vitest";
import { sampleInThread, surveyInThread } from "./promptsThread";
import { testPromptFiles } from "./testing/testPromptFile";

const files = testPromptFiles();
afterAll(files.remove);

const ask = (content: string): string => JSON.stringify({ messages: [{ role: "user", content }] });
const never = new AbortController().signal;

it("has the memory for a line of 8 MB that is nothing but a list", async () => {
  const hungry = `{"messages":[{"role":"user","content":[${"{},".repeat(2_700_000)}{}]}]}`;
  const file = files.file(`${ask("good")}\n${hungry}`);
  const skipped = [{ line: 2, problem: "it has no text of a user" }];
  expect(await surveyInThread(file, never)).toMatchObject({ ok: true, survey: { prompts: 1, badLines: skipped } });
});

it("ends with the signal, while it reads and while it waits its turn", async () => {
  const file = files.file(`${ask("q")}\n`.repeat(60_000));
  const stop = new AbortController();
  const begun = Array.from({ length: 4 }, () =>
    sampleInThread(file, { size: 1000, by: [], draw: 1 }, () => stop.abort(new Error("enough")), stop.signal),
  );
  for (const one of await Promise.allSettled(begun)) expect(one).toMatchObject({ status: "rejected" });
  expect(await surveyInThread(files.file(ask("good")), never)).toMatchObject({ ok: true });
});
