import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../testing/testGateway";
import { SavedFile } from "./savedFile";

it("keeps a file that cannot be restored beside the one that it stores then", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, "state.json");
  await writeFile(path, "half a fi");
  const problems: unknown[] = [];
  let text = "{}";
  const file = new SavedFile(path, {
    everyMs: 1_000_000,
    text: () => text,
    restore: (stored) => JSON.parse(stored),
    onProblem: (problem) => problems.push(problem),
  });
  await file.load();
  expect(problems).toHaveLength(1);
  await file.save();
  text = '{"a":1}';
  await file.close();
  expect(await readFile(path, "utf8")).toBe(text);
  expect(await readFile(`${path}.unusable`, "utf8")).toBe("half a fi");
  expect(await readdir(directory)).toHaveLength(2);
  expect(problems).toHaveLength(1);
});
