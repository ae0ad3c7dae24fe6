import { expect, it } from "vitest";
import { MAX_UPLOAD_BYTES, refusalBeforeSending } from "./uploadFile";

it("refuses a file over the limit before a byte is sent, with its size and the way out", () => {
  expect(refusalBeforeSending({ name: "big.csv", size: MAX_UPLOAD_BYTES + 1 })).toMatch(/big\.csv has 65 MB.*weir -- import/);
});

it("refuses an empty file", () => {
  expect(refusalBeforeSending({ name: "none.csv", size: 0 })).toContain("none.csv is empty");
});

it("lets a file of exactly the limit through", () => {
  expect(refusalBeforeSending({ name: "full.csv", size: MAX_UPLOAD_BYTES })).toBeNull();
});
