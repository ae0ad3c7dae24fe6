import { expect, it } from "vitest";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { ClusterEngines, type ClusterReplica } from "./clusterEngines";

const REQUESTS = 60;
const fit = replicaModel(modelCards["llama-3.1-8b"]!, gpuCards["h100-sxm"]!, { tp: 1, pp: 1 });
if (!fit.fits) throw new Error(fit.reason);
const { replica } = fit;
const place = (id: string, model: string, engine?: string): ClusterReplica => ({
  ...{ id, model, replica, maxInFlight: REQUESTS },
  ...(engine === undefined ? {} : { engine }),
});

/** Seconds at which each request's answer is visible; requests go to the places in turn, all at once. */
function answered(places: readonly ClusterReplica[]): { readonly seconds: readonly number[]; readonly busy: readonly number[] } {
  const engines = new ClusterEngines(
    places,
    Int32Array.from({ length: REQUESTS }, (_, request) => 100 + 37 * request),
  );
  const seconds = new Array<number>(REQUESTS).fill(0);
  for (let request = 0; request < REQUESTS; request += 1)
    engines.dispatch(request, places[request % places.length]!.id, { atSeconds: 0, outputTokens: 20 + (request % 7) * 30 });
  for (let now = engines.nextSeconds(); Number.isFinite(now); now = engines.nextSeconds()) {
    engines.advanceTo(now);
    for (let done = engines.takeAnswered(now); done !== null; done = engines.takeAnswered(now)) {
      seconds[done] = now;
      engines.release(done);
    }
  }
  const horizon = Math.max(...seconds);
  return { seconds, busy: [...new Set(places.map(({ model }) => model))].map((model) => engines.busyShare(model, horizon)) };
}

it("runs the requests of a model and its adapter in one batch: as fast as one engine, not as two", () => {
  const alone = answered([place("a", "base")]);
  const shared = answered([place("a", "base", "e"), place("b", "tuned", "e")]);
  const apart = answered([place("a", "base"), place("b", "tuned")]);
  expect(shared.seconds).toEqual(alone.seconds);
  expect(shared.busy).toEqual([alone.busy[0], alone.busy[0]]);
  expect(Math.max(...apart.seconds)).toBeLessThan(0.8 * Math.max(...shared.seconds));
});

it("keeps the count of requests in flight of each model on its own", () => {
  const places = [place("a", "base", "e"), { ...place("b", "tuned", "e"), maxInFlight: 1 }];
  const engines = new ClusterEngines(
    places,
    Int32Array.from({ length: 3 }, () => 10),
  );
  const work = { atSeconds: 0, outputTokens: 5 };
  engines.dispatch(0, "b", work);
  engines.dispatch(1, "a", work);
  expect(engines.views.map(({ model, inFlight }) => [model, inFlight])).toEqual([
    ["base", 1],
    ["tuned", 1],
  ]);
  expect(() => engines.dispatch(2, "b", work)).toThrow(/full/);
  expect(engines.release(0)).toBe("b");
});
