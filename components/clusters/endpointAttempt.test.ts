import { describe, expect, it } from "vitest";
import type { EndpointToTry, TryEvent } from "@/server/contracts/studio";
import { type AttemptAct, afterAct, noAttempt } from "./endpointAttempt";
import { closedAt, triedAt } from "./testEndpoints";

const [a, b] = ["http://a:8000", "http://b:8000"] as const;
const read = (...urls: readonly string[]): TryEvent => ({
  kind: "read",
  endpoints: urls.map((url) => ({ name: new URL(url).hostname, url })),
  notes: [],
});
const heard = (event: TryEvent, asked: readonly EndpointToTry[] | null = null): AttemptAct => ({ kind: "heard", asked, event });
const after = (...acts: readonly AttemptAct[]) => acts.reduce(afterAct, noAttempt);

describe("what is known of pasted addresses", () => {
  it("says of each what was found as it comes, and which are still being tried", () => {
    const attempt = after({ kind: "begin", asked: null }, heard(read(a, b)), heard({ kind: "tried", endpoint: closedAt(b) }));
    expect(attempt.endpoints.map(({ url }) => url)).toEqual([a, b]);
    expect(attempt.waiting).toEqual([a]);
    expect(attempt.tried[b]?.findings[0]?.level).toBe("failed");
    expect(afterAct(attempt, { kind: "ended", asked: null }).waiting).toEqual([]);
  });

  it("keeps what was found of an address while the text around it changes, and forgets those that are gone", () => {
    const attempt = after(heard(read(a, b)), heard({ kind: "tried", endpoint: triedAt(a) }), heard(read(a)));
    expect(attempt.tried[a]).toBeDefined();
    expect(attempt.endpoints.map(({ url }) => url)).toEqual([a]);
    expect(afterAct(attempt, heard({ kind: "tried", endpoint: triedAt(b) })).tried[b]).toBeUndefined();
  });

  it("keeps the sentence why a text cannot be read, with what was found before, until it can be", () => {
    const refused = after(heard(read(a)), heard({ kind: "tried", endpoint: triedAt(a) }), heard({ kind: "refused", message: "Line 2." }));
    expect(refused).toMatchObject({ refused: "Line 2.", waiting: [] });
    expect(refused.tried[a]).toBeDefined();
    expect(afterAct(refused, heard(read(a))).refused).toBeNull();
  });

  it("lets no answer without a key overwrite one with the key that was named since", () => {
    const keyed: EndpointToTry = { name: "a", url: a, key: { environment: "WEIR_ENGINE_A" } };
    const withKey = after(
      heard(read(a)),
      { kind: "begin", asked: [keyed] },
      heard({ kind: "tried", endpoint: triedAt(a, { tried: keyed }) }, [keyed]),
      heard(read(a, b)),
      heard({ kind: "tried", endpoint: closedAt(a) }),
    );
    expect(withKey.tried[a]?.findings.some(({ level }) => level === "failed")).toBe(false);
    expect(withKey.endpoints[0]?.key).toEqual({ environment: "WEIR_ENGINE_A" });
    expect(withKey.waiting).toEqual([b]);
  });

  it("is nothing once the text is empty", () => {
    expect(after(heard(read(a)), { kind: "cleared" })).toEqual(noAttempt);
  });
});
