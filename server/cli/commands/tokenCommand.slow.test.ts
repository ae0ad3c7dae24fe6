import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { identify } from "@/server/auth/identify";
import type { ApiTokenSummary } from "@/server/contracts/studio";
import { openStore } from "@/server/store/store";
import { weirIn } from "../testing/testWeir";

const folder = mkdtempSync(join(tmpdir(), "weir-token-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const weir = weirIn(folder);

/** Who the studio of this state folder takes a token for. */
function callerOf(token: string) {
  const store = openStore(join(folder, "state"));
  try {
    return identify(store, new Headers({ authorization: `Bearer ${token}` }), false);
  } finally {
    store.close();
  }
}

test("a token is printed alone and once, works with its role, is listed without itself, and is refused once revoked", async () => {
  expect((await weir("token", "list")).stdout).toBe("There are no tokens.\n");
  const made = await weir("token", "create", "--label", "nightly", "--role", "operator", "--days", "3");
  expect(made.code).toBe(0);
  const token = made.stdout.trim();
  expect(token).toMatch(/^weir_[\w-]{43}$/);
  expect(made.stderr).toBe("Keep this token of the role operator, it is not shown again. It expires in 3 days.\n");
  expect(callerOf(token)).toMatchObject({ name: "token nightly of local admin", role: "operator", kind: "token" });

  const listed = await weir("token", "list", "--json");
  expect(listed.stdout).not.toContain(token);
  const [{ id, expiresAt, lastUsedAt }] = JSON.parse(listed.stdout) as [ApiTokenSummary];
  expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(2.9 * 86_400_000);
  expect(lastUsedAt).not.toBeNull();
  expect((await weir("token", "list")).stdout).toMatch(/nightly +operator +local admin/);

  expect((await weir("token", "revoke", id)).code).toBe(0);
  expect(callerOf(token)).toBeNull();
  expect((await weir("token", "list")).stdout).toContain("revoked");
  expect(await weir("token", "revoke", id)).toMatchObject({ code: 2, stderr: "The token is unknown or was revoked already.\n" });
});

test("bad flags are refused with a sentence, and nothing is made", async () => {
  const before = (await weir("token", "list", "--json")).stdout;
  for (const [flags, words] of [
    [["--label", "x", "--role", "king"], /Allowed choices are viewer, operator, approver, admin/],
    [["--label", " ", "--role", "viewer"], /Give a label of 1 to 80 characters/],
    [["--label", "x", "--role", "viewer", "--days", "0"], /whole number from 1 to 366/],
    [["--label", "x"], /--role/],
  ] as const) {
    const { code, stdout, stderr } = await weir("token", "create", ...flags);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(words);
  }
  expect((await weir("token", "list", "--json")).stdout).toBe(before);
});
