import { expect, it } from "vitest";
import { snippetLanguages } from "../address/ensemblesCodec";
import { onlineSnippet } from "./onlineSnippets";

it("asks the ensemble by its name at the gateway's address, in every language", () => {
  for (const language of snippetLanguages) {
    const text = onlineSnippet(language, { baseUrl: "http://g:4610/v1", name: "maths" });
    expect(text).toContain("ensemble/maths");
    expect(text).toContain("http://g:4610/v1");
  }
});

it("sends with curl what is JSON", () => {
  const text = onlineSnippet("curl", { baseUrl: "http://g/v1", name: "maths" });
  expect(JSON.parse(/-d '(.*)'/.exec(text)?.[1] ?? "")).toMatchObject({ model: "ensemble/maths" });
});
