import { expect, test } from "vitest";
import { connectedEngine } from "./connectedEngine";

type Cluster = Parameters<typeof connectedEngine>[1][number];

const at = "http://127.0.0.1:8000";
const cluster = (...engines: readonly object[]): Cluster =>
  ({ seen: () => ({ atMs: 1, answer: { ok: true, value: { engines } } }) }) as unknown as Cluster;
const own = { id: "own", url: at, model: "llama-3.1-8b", tp: 4, pp: 1, access: { servedName: "llama" } };
const adapter = { id: "adapter", url: at, model: "tuned", tp: 4, pp: 1 };

test("an engine is found by its address in any spelling and its own name of the model", () => {
  const clusters = [cluster({ ...own, id: "other", url: "http://10.0.0.4:8000" }), cluster(own, adapter)];
  expect(connectedEngine({ url: "http://localhost:8000", served: "llama" }, clusters)?.id).toBe("own");
  expect(connectedEngine({ url: at, served: "tuned" }, clusters)?.id).toBe("adapter");
});

test("there is none at another address, under another name, or on a cluster that was not seen", () => {
  const away: Cluster = { seen: () => ({ atMs: null, answer: { ok: false, message: "away" } }) };
  expect(connectedEngine({ url: "http://127.0.0.1:8001", served: "llama" }, [away, cluster(own)])).toBeNull();
  expect(connectedEngine({ url: at, served: "llama-3.1-8b" }, [cluster(own)])).toBeNull();
});
