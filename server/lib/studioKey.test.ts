import { createPublicKey } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hashOf, readPublicKey, readStatement } from "@/server/contracts/gateway/signedOrder";
import { orderSigner, studioKey } from "./studioKey";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-key-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("is made once, is readable by its user alone, and has its public half beside it", () => {
  const key = studioKey(folder);
  expect(statSync(join(folder, "studio-key.pem")).mode & 0o777).toBe(0o600);
  expect(studioKey(folder).equals(key)).toBe(true);
  const shared = readPublicKey(readFileSync(join(folder, "studio-key.pub"), "utf8").trim());
  expect(shared?.equals(createPublicKey(key))).toBe(true);
  writeFileSync(join(folder, "studio-key.pub"), "another\n");
  studioKey(folder);
  expect(readPublicKey(readFileSync(join(folder, "studio-key.pub"), "utf8").trim())).not.toBeNull();
});

it("signs each order with a higher revision than any before, and above the one that a gateway has accepted", () => {
  const key = studioKey(folder);
  const sign = orderSigner(key);
  const order = { clusterId: "c", order: "PUT /config", body: { a: 1 }, parts: {} };
  const told = (after?: number) => readStatement(sign({ ...order, ...(after === undefined ? {} : { after }) }), [createPublicKey(key)]);
  const revisions = Array.from({ length: 100 }, () => told()?.revision ?? 0);
  expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
  const ahead = Date.now() + 1_000_000;
  expect(told(ahead)).toMatchObject({ revision: ahead + 1, clusterId: "c", order: "PUT /config", body: hashOf({ a: 1 }), parts: {} });
  expect(told()?.revision).toBe(ahead + 2);
});

it("does not follow a gateway whose revision is no number or far ahead, and counts for each cluster alone", () => {
  const key = studioKey(folder);
  const sign = orderSigner(key);
  const revisionOf = (clusterId: string, after?: number): number => {
    const text = sign({ clusterId, order: "PUT /config", body: {}, parts: {}, ...(after === undefined ? {} : { after }) });
    return readStatement(text, [createPublicKey(key)])?.revision ?? Number.NaN;
  };
  const tomorrow = Date.now() + 24 * 60 * 60 * 1000;
  for (const told of [Number.MAX_SAFE_INTEGER, Number.NaN, Number.POSITIVE_INFINITY, 1e300, tomorrow + 60_000, 0.5]) {
    expect(revisionOf("theirs", told)).toBeLessThan(tomorrow);
    expect(revisionOf("theirs")).toBeLessThan(tomorrow);
  }
  expect(revisionOf("theirs", tomorrow - 60_000)).toBe(tomorrow - 59_999);
  expect(revisionOf("ours")).toBeLessThan(tomorrow - 120_000);
});
