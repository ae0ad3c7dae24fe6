import type { EngineRequest } from "@/server/contracts/engine/emulatorAdmin";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { GatewayRouting, StepAction } from "@/server/store/documents/storedStep";
import { gpuKeys, placeText } from "./targetEngines";

/** An engine found on the cluster. */
export interface StandingEngine extends EngineRequest {
  /** A stopping engine holds its GPUs and is never kept. */
  readonly stopping: boolean;
}

/** The policy in force now or later: the models whose engines it needs. */
interface PolicyInForce {
  readonly planId: string | null;
  readonly models: readonly string[];
}

export interface RollOut {
  readonly standing: readonly StandingEngine[];
  readonly routing: GatewayRouting;
  readonly inForce: PolicyInForce;
  readonly target: PolicyInForce & { readonly engines: readonly EngineOrder[] };
  /** Workload whose held-out prompts the emulated engines replay; null if engines are real or already have them. */
  readonly loadOutcomes: string | null;
  /** Engines are run externally: none is started or stopped. Absent: the target decides what runs. */
  readonly topology?: "given";
}

export interface PlannedStep {
  readonly action: StepAction;
  readonly text: string;
}

/**
 * The ordered steps from the present state to a plan. Pure, and the only source of steps: the difference shown before an apply and the
 * apply itself are computed here.
 *
 * Engines with the same model, shape and GPUs stay unchanged. New engines are started on free GPUs and verified first, then the policy is
 * switched, then old engines drain and stop. An old engine is drained before its successor is up only if no GPU is free; then one is chosen
 * that leaves every model of the policy in force served, if there is one.
 *
 * With a given topology, engines are only verified, routed to, and drained of requests and taken off the gateway's list.
 */
export function planSteps(rollOut: RollOut): readonly PlannedStep[] {
  return new RollOutPlanner(rollOut).plan();
}

/** Goes through the roll-out step by step, tracking which engines exist, which are verified, and what is in force. */
class RollOutPlanner {
  private readonly steps: PlannedStep[] = [];
  private readonly running: Map<string, EngineRequest>;
  private readonly proved: Set<string>;
  private readonly leaving: Set<string>;
  private readonly routed: Set<string>;
  private readonly pending: EngineOrder[];
  private readonly unproved: EngineOrder[];
  private readonly targetIds: Set<string>;
  private inForce: PolicyInForce;
  /** null: the gateway lists an engine that does not exist, so its list must be written again. */
  private routing: GatewayRouting | null;

  constructor(private readonly rollOut: RollOut) {
    const { standing, routing, target } = rollOut;
    this.targetIds = new Set(target.engines.map((engine) => engine.id));
    this.running = new Map(standing.map((engine) => [engine.id, engine]));
    const isStopping = new Set(standing.filter(({ stopping }) => stopping).map(({ id }) => id));
    const kept = new Set(standing.filter((engine) => !engine.stopping && this.targetIds.has(engine.id)).map((engine) => engine.id));
    this.leaving = new Set(standing.map((engine) => engine.id).filter((id) => !kept.has(id)));
    this.routed = new Set([...routing.active, ...routing.cordoned]);
    // An engine that is ending answers nobody, even if the gateway still lists it: its process may have died and left others behind.
    this.proved = new Set(routing.active.filter((id) => this.running.has(id) && !isStopping.has(id)));
    this.pending = target.engines.filter((engine) => !kept.has(engine.id));
    // An engine without a route, such as an attached one that the plan leaves out, is never seen to take requests: it would be verified
    // forever.
    this.unproved = target.engines.filter((engine) => kept.has(engine.id) && !this.proved.has(engine.id) && this.isRouted(engine));
    // The same plan id means the same policy: engines may differ (some failed), but routing need not be switched again.
    this.inForce = rollOut.inForce.planId === target.planId ? target : rollOut.inForce;
    this.routing = [...this.routed].every((id) => this.running.has(id)) ? routing : null;
  }

  plan(): readonly PlannedStep[] {
    const { loadOutcomes, target } = this.rollOut;
    if (loadOutcomes !== null) {
      this.push({ kind: "load-outcomes", workloadId: loadOutcomes }, "Give the emulated engines the workload's held-out prompts");
    }
    this.verify(this.unproved);
    // A missing engine cannot be started: verifying it reports that, before anything is routed.
    if (this.rollOut.topology === "given") this.verify(this.pending.splice(0).filter((engine) => this.isRouted(engine)));
    for (;;) {
      this.startWhereFree();
      if (this.inForce !== target && this.covers(target, this.proved)) this.switchPolicy();
      if (this.pending.length === 0) break;
      for (const id of this.cheapestRoom()) this.remove(id);
    }
    if (this.routing === null || !sameRouting(this.routing, this.routingNow()))
      this.route(`Send requests to every engine of plan ${shortId(target.planId)}`);
    if (this.rollOut.topology === "given") this.unroute();
    else for (const id of [...this.leaving]) this.remove(id);
    return this.steps;
  }

  private isRouted({ model }: EngineOrder): boolean {
    return this.rollOut.target.models.includes(model);
  }

  private startWhereFree(): void {
    const taken = new Set([...this.running.values()].flatMap(gpuKeys));
    const free = this.pending.filter((engine) => !this.running.has(engine.id) && gpuKeys(engine).every((key) => !taken.has(key)));
    for (const engine of free) {
      this.pending.splice(this.pending.indexOf(engine), 1);
      this.running.set(engine.id, engine);
      this.push({ kind: "start", engine }, `Start ${engine.model} with tp ${engine.tp}, pp ${engine.pp} on ${placeText(engine)}`);
    }
    this.verify(free);
  }

  /** Engines load in parallel: all of a batch are started before the first is waited for. */
  private verify(engines: readonly EngineRequest[]): void {
    for (const { id, model } of engines) {
      this.push({ kind: "verify", engineId: id, model }, `Verify ${id}: healthy, lists ${model}, answers one token`);
      this.proved.add(id);
    }
  }

  private switchPolicy(): void {
    const { target } = this.rollOut;
    this.inForce = target;
    this.route(target.planId === null ? "Take no more requests" : `Switch routing to plan ${shortId(target.planId)}`);
  }

  private route(text: string): void {
    this.push({ kind: "switch-policy", routing: this.newRouting() }, text);
  }

  private newRouting(): GatewayRouting {
    const routing = this.routingNow();
    this.routing = routing;
    return routing;
  }

  /** Old engines of the new policy's models continue to serve until the last new engine is up. */
  private routingNow(): GatewayRouting {
    const { target } = this.rollOut;
    const helping = this.inForce !== target || this.pending.length > 0;
    const active = [...this.proved].filter(
      (id) => this.running.has(id) && this.inForce.models.includes(this.modelOf(id)) && (helping || this.targetIds.has(id)),
    );
    for (const id of active) this.routed.add(id);
    const cordoned = [...this.routed].filter((id) => this.running.has(id) && !active.includes(id));
    return { planId: this.inForce.planId, active, cordoned };
  }

  /** The old engines on the GPUs of one waiting engine: those whose loss leaves fewest models unserved, then fewest GPUs. */
  private cheapestRoom(): readonly string[] {
    let best: { readonly ids: readonly string[]; readonly unserved: number; readonly gpus: number } | null = null;
    for (const engine of this.pending) {
      const wanted = new Set(gpuKeys(engine));
      const inTheWay = [...this.leaving].filter((id) => id === engine.id || this.gpusOf(id).some((key) => wanted.has(key)));
      const left = new Set([...this.proved].filter((id) => !inTheWay.includes(id)));
      const unserved = this.inForce.models.filter((model) => !this.serves(model, left)).length;
      const gpus = inTheWay.reduce((sum, id) => sum + this.gpusOf(id).length, 0);
      if (best === null || unserved < best.unserved || (unserved === best.unserved && gpus < best.gpus)) {
        best = { ids: inTheWay, unserved, gpus };
      }
    }
    if (best === null || best.ids.length === 0)
      throw new Error("Two engines of the target share a GPU; the plan should have been refused.");
    return best.ids;
  }

  private remove(id: string): void {
    const engine = this.running.get(id);
    if (engine === undefined) return;
    this.proved.delete(id);
    if (this.routed.has(id)) {
      this.push({ kind: "drain", engineId: id, routing: this.newRouting() }, `Drain ${id}: no new requests, finish what it has`);
    }
    this.running.delete(id);
    this.leaving.delete(id);
    this.routed.delete(id);
    this.push({ kind: "stop", engineId: id, routing: this.newRouting() }, `Stop ${id}, freeing ${placeText(engine)}`);
  }

  /** Removes every engine that the target leaves out from the gateway's list, all at once when the last of them has nothing in flight. */
  private unroute(): void {
    const given = [...this.leaving].filter((id) => this.routed.has(id));
    for (const id of given) {
      this.push({ kind: "drain", engineId: id, routing: this.newRouting() }, `Drain ${id}: no new requests, finish what it has`);
    }
    for (const id of given) this.routed.delete(id);
    if (given.length > 0) this.route(`Let go of ${given.join(", ")}, which ${given.length === 1 ? "runs" : "run"} on`);
  }

  private covers(policy: PolicyInForce, ids: ReadonlySet<string>): boolean {
    return policy.models.every((model) => this.serves(model, ids));
  }

  private serves(model: string, ids: ReadonlySet<string>): boolean {
    for (const id of ids) if (this.running.has(id) && this.modelOf(id) === model) return true;
    return false;
  }

  private modelOf(id: string): string {
    return this.running.get(id)?.model ?? "";
  }

  private gpusOf(id: string): readonly string[] {
    const engine = this.running.get(id);
    return engine === undefined ? [] : gpuKeys(engine);
  }

  private push(action: StepAction, text: string): void {
    this.steps.push({ action, text });
  }
}

const shortId = (planId: string | null): string => planId?.slice(0, 8) ?? "none";

const sameSet = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((id) => b.includes(id));

const sameRouting = (a: GatewayRouting, b: GatewayRouting): boolean =>
  a.planId === b.planId && sameSet(a.active, b.active) && sameSet(a.cordoned, b.cordoned);
