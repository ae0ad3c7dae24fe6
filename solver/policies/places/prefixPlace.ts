import { BoundedMap } from "@/solver/collections/boundedMap";
import { BlockLru } from "@/solver/prefix/blockLru";
import { BLOCK_TOKENS } from "@/solver/prefix/promptBlocks";
import type { Place, Slots } from "../core/policyParts";
import { leastLoadPlace } from "./leastLoadPlace";

/** How many requests in flight a hit of a mean prompt's length outweighs. */
const HIT_WEIGHT = 4;
/** Maximum number of blocks that are remembered of one replica, and of all replicas of a model. */
const MOST_BLOCKS_OF_REPLICA = 31_250;
const MOST_BLOCKS_OF_MODEL = 1_000_000;
/** Prompts over which the mean length is taken, weighted exponentially. */
const MEAN_OVER = 1000;
const none = new Uint32Array();

/** What is known of a model's replicas and prompts. */
interface ModelIndex {
  readonly blocks: Map<string, BlockLru>;
  prompts: number;
  meanTokens: number;
}

/**
 * The replica at which the prefix that its cache is expected to hold is worth most against its load: the lowest of
 *
 *     cost(r) = (inFlight(r) - w * (hit(r) - least) / mean) / capacity(r)
 *
 * `hit(r)`: tokens of the prompt's first blocks that were sent to r and that its cache still has room for; `least`: the lowest hit of all
 * replicas with room; `mean`: mean tokens of the model's latest prompts; w = `HIT_WEIGHT`. A hit spares its tokens' prefill, and each
 * request in flight stands for about one prompt's work. Without hits, and where all are equal, it is the rule of least load. That the two
 * are one sum, of prefill left to do and of load, is the rule of NVIDIA Dynamo's KV router (cost = weight * prefill blocks + active blocks);
 * blocks of 64 tokens, the first 256 of a prompt, and 31,250 a replica by last use are the defaults of the prefix scorer of the
 * Gateway API inference extension and llm-d, which adds the shares of hit and load with weights. SGLang's router instead follows the
 * longest match until queues differ by a threshold, and the router of vLLM's production stack follows it whatever the load.
 *
 * Which blocks a replica holds is an estimate: its latest prompts, as many as its KV cache has room for where that is known. An answer is
 * in the cache as well: the replica of its program's last request counts one block more of a prompt that it knows, so that sessions stay
 * together.
 */
export function prefixPlace(): Place {
  const models = new Map<string, ModelIndex>();
  const lastReplicas = new BoundedMap<Map<string, string>>();
  /** Those of previously seen slots, in their order. */
  const rows = new WeakMap<Slots, readonly BlockLru[]>();

  /** Indices of the slots' replicas. Those of replicas that are gone are dropped. */
  function rowOf(slots: Slots, index: ModelIndex): readonly BlockLru[] {
    const known = rows.get(slots);
    if (known !== undefined) return known;
    const row = slots.replicaIds.map((id) => index.blocks.get(id) ?? new BlockLru());
    index.blocks.clear();
    for (const [at, id] of slots.replicaIds.entries()) index.blocks.set(id, row[at] ?? new BlockLru());
    rows.set(slots, row);
    return row;
  }

  function indexOf(model: string): ModelIndex {
    const index = models.get(model) ?? { blocks: new Map(), prompts: 0, meanTokens: 0 };
    models.set(model, index);
    return index;
  }

  return {
    kind: "prefix",
    needs: ["prefixes", "identifiers"],
    choose(slots, work) {
      const { promptBlocks: prompt = none, inputTokens, programId } = work;
      const index = indexOf(slots.model);
      const row = rowOf(slots, index);
      const own = lastReplicas.get(programId);
      const last = slots.replicaIds.indexOf(own?.get(slots.model) ?? "");
      const hits = row.map((blocks, at) => {
        const matched = blocks.matched(prompt);
        return Math.min(inputTokens, BLOCK_TOKENS * (matched > 0 && at === last ? matched + 1 : matched));
      });
      const chosen = cheapest(slots, hits, HIT_WEIGHT / Math.max(1, index.meanTokens));
      const replicaId = slots.replicaIds[chosen];
      if (replicaId === undefined) return chosen;
      index.prompts = Math.min(MEAN_OVER, index.prompts + 1);
      index.meanTokens += (inputTokens - index.meanTokens) / index.prompts;
      row[chosen]?.use(prompt, mostBlocks(slots.kvTokens[chosen] ?? null, row.length));
      lastReplicas.put(programId, (own ?? new Map<string, string>()).set(slots.model, replicaId));
      return chosen;
    },
    observe(event) {
      if (event.kind === "ended") lastReplicas.delete(event.programId);
    },
  };
}

/** The replica with room and the lowest cost, the first of equals; -1: none has room. @param perToken what a token of a hit is worth. */
function cheapest(slots: Slots, hits: readonly number[], perToken: number): number {
  const { inFlight, capacity } = slots;
  const withRoom = hits.filter((_, at) => (inFlight[at] ?? 0) < (capacity[at] ?? 0));
  const least = Math.min(...withRoom);
  if (withRoom.every((hit) => hit === least)) return leastLoadPlace.choose(slots);
  let best = -1;
  let bestCost = Number.POSITIVE_INFINITY;
  for (const [at, hit] of hits.entries()) {
    const [load, room] = [inFlight[at] ?? 0, capacity[at] ?? 0];
    const cost = (load - perToken * (hit - least)) / room;
    if (load < room && cost < bestCost) {
      best = at;
      bestCost = cost;
    }
  }
  return best;
}

/** As many blocks as a replica's cache holds, within the bounds. */
function mostBlocks(kvTokens: number | null, replicas: number): number {
  const bound = Math.min(MOST_BLOCKS_OF_REPLICA, Math.floor(MOST_BLOCKS_OF_MODEL / replicas));
  return kvTokens === null ? bound : Math.min(bound, Math.floor(kvTokens / BLOCK_TOKENS));
}
