import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import type { Caller } from "@/server/contracts/studio";
import { openStore } from "@/server/store/store";
import { endStaleStreams } from "./endStaleStreams";
import { createOpenStreams } from "./openStreams";

const at = "2026-01-01T00:00:00.000Z";
const hour = (hours: number) => new Date(Date.parse(at) + hours * 3_600_000).toISOString();

it("ends streams of a session that expires, of a token that another process revokes, and of a disabled person's token, and no other", () => {
  vi.useFakeTimers({ now: Date.parse(at) });
  const folder = mkdtempSync(join(tmpdir(), "weir-streams-"));
  const store = openStore(folder);
  const streams = createOpenStreams();
  const stop = endStaleStreams(store, streams);
  onTestFinished(() => {
    stop();
    store.close();
    rmSync(folder, { recursive: true });
    vi.useRealTimers();
  });
  for (const id of ["ann", "bob"]) store.users.insert({ id, name: id, role: "viewer", issuer: "i", subject: id, createdAt: at });
  const session = (id: string, expiresAt: string) =>
    store.sessions.insert({ id, hash: id, pageTokenHash: id, userId: "ann", createdAt: at, lastUsedAt: at, expiresAt });
  const token = (id: string, createdBy: string) =>
    store.apiTokens.insert({ id, hash: id, label: id, role: "viewer", createdBy, createdAt: at, expiresAt: hour(9) });
  session("brief", hour(1));
  session("long", hour(9));
  token("kept", "ann");
  token("revoked", "ann");
  token("bobs", "bob");
  const open = (id: string) => streams.open({ id, kind: "session", userId: "", name: "", role: "viewer" } satisfies Caller);
  const ids = ["brief", "long", "kept", "revoked", "bobs"];
  const opened = ids.map((id) => ({ id, signal: open(id)?.signal }));
  const ended = () => opened.flatMap(({ id, signal }) => (signal?.aborted ? [id] : []));
  vi.advanceTimersByTime(60_000);
  expect(ended()).toEqual([]);
  store.apiTokens.revoke("revoked", at);
  store.users.update("bob", { disabledAt: at });
  vi.advanceTimersByTime(10_000);
  expect(ended()).toEqual(["revoked", "bobs"]);
  vi.advanceTimersByTime(3_600_000);
  expect(ended()).toEqual(["brief", "revoked", "bobs"]);
});
