import { expect, it } from "vitest";
import { writeView } from "../url/useUrlView";
import { promptsCodec } from "./PromptsScreen";

it("opens the upload by a link, and comes back from the address as it was written", () => {
  expect(promptsCodec.parse(new URLSearchParams("upload=1")).from).toBe("file");
  for (const from of ["file", "gateway", null] as const)
    expect(promptsCodec.parse(writeView(promptsCodec, new URLSearchParams("cluster=c"), { from })).from).toBe(from);
});
