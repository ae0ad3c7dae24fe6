import { expect, it } from "vitest";
import { fileName } from "./DownloadButton";

it("saves a file under the name that the studio gives, in UTF-8 first", () => {
  expect(fileName('attachment; filename="plan-ab.json"')).toBe("plan-ab.json");
  expect(fileName(`attachment; filename="w.jsonl"; filename*=UTF-8''${encodeURIComponent("Köln")}.jsonl`)).toBe("Köln.jsonl");
  expect(fileName("")).toBe("download");
});
