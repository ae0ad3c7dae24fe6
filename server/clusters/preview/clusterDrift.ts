import { isDeepStrictEqual } from "node:util";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { GatewayConfig, GatewayReplica } from "@/server/contracts/gateway/gatewayAdmin";
import type { DriftLine } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { listedModelsOf, type PolicyDocument, singlesPolicyOf, thresholdsOf, withSinglesPolicy } from "@/solver/plan/policySchema";
import type { Observation, ObservedEngine } from "../connector/connector";
import { gatewayConfig } from "../connector/gatewayRouting";
import { gpuKeys, placeText, targetEngines } from "../steps/targetEngines";

/** An engine's own object as Weir would write it and in its actual state, in the same form. */
export interface EngineObject {
  readonly engineId: string;
  readonly generated: string;
  /** null: it does not exist. */
  readonly actual: string | null;
}

export interface DriftContext {
  /** The plan in force according to the store; null: none. */
  readonly plan: Plan | null;
  readonly observation: Observation;
  /** The gateway's configuration; null: it has none. */
  readonly config: GatewayConfig | null;
  readonly objects: readonly EngineObject[];
  /** Engines that their operator, or a batch, started in addition to the plan's: their presence is no drift, whatever the plan. */
  readonly isOperators: (engine: ObservedEngine) => boolean;
}

/** Lines of an object that are shown for each side. */
const shownLines = 6;

const nothing = "nothing";

/**
 * The differences between what the plan in force requires, what Weir generates for it on this cluster, and the actual state. Pure; empty if
 * there are none. On a cluster with a given topology, an engine that is down still belongs to it: that is a health problem, not drift.
 */
export function clusterDrift(ground: DriftContext): readonly DriftLine[] {
  const { plan, config } = ground;
  if (plan === null) return config === null || config.planId === "" ? [] : [otherPlan(null, config)];
  const wanted = targetEngines(plan);
  return [...hardwareLines(plan, ground), ...engineLines(wanted, ground), ...gatewayLines(plan, ground), ...objectLines(ground)];
}

function hardwareLines(plan: Plan, { observation }: DriftContext): readonly DriftLine[] {
  const { cluster } = plan.inputs;
  const wanted = targetEngines(plan);
  const used = [...new Set(wanted.flatMap(({ placements }) => placements.map(({ node }) => node)))];
  return used.flatMap((name): readonly DriftLine[] => {
    const planned = cluster.nodes.find((node) => node.name === name);
    const node = observation.nodes.find((one) => one.name === name);
    const keys = new Set(wanted.flatMap(gpuKeys).filter((key) => key.slice(0, key.lastIndexOf("/")) === name));
    const gpu = wanted.find(({ placements }) => placements.some((placement) => placement.node === name))?.gpu ?? cluster.gpu;
    const desired = planned === undefined ? `${keys.size} ${gpu}` : `${planned.gpus} ${planned.gpu ?? cluster.gpu}`;
    const line = { of: "hardware", subject: name, desired, generated: `${keys.size} ${gpu} in use` } as const;
    if (node === undefined) return [{ ...line, actual: "not there", says: `${name}, on which the plan has engines, is not there.` }];
    const found = `${node.gpus} ${node.gpu ?? observation.gpu}`;
    if (planned !== undefined && found !== desired)
      return [{ ...line, actual: found, says: `${name} has ${found}, and was planned for with ${desired}.` }];
    const others = node.othersGpus ?? 0;
    if (keys.size > node.gpus - others)
      return [
        {
          ...line,
          actual: `${found}, ${others} of them in use by others`,
          says: `Others use ${others} of ${name}'s ${node.gpus} GPUs, and the plan wants ${keys.size}.`,
        },
      ];
    return [];
  });
}

function engineLines(wanted: readonly EngineOrder[], { observation, isOperators }: DriftContext): readonly DriftLine[] {
  const { engines, topology } = observation;
  const gone = wanted.flatMap((order): readonly DriftLine[] => {
    const standing = engines.find((one) => one.id === order.id);
    if (standing !== undefined && !standing.stopping) return [];
    const desired = `${order.model} with tp ${order.tp}, pp ${order.pp}`;
    const line = { of: "engine", subject: order.id, desired, generated: `on ${placeText(order)}` } as const;
    return standing === undefined
      ? [{ ...line, actual: "not there", says: `${order.id} should serve on ${placeText(order)} and is not there.` }]
      : [{ ...line, actual: "is ending", says: `${order.id} should serve on ${placeText(order)} and is being stopped.` }];
  });
  const owners = new Map(wanted.flatMap((order) => gpuKeys(order).map((key) => [key, order.id] as const)));
  const strangers = engines.flatMap((engine): readonly DriftLine[] => {
    if (engine.stopping || topology === "given" || wanted.some(({ id }) => id === engine.id)) return [];
    const owner = gpuKeys(engine)
      .map((key) => owners.get(key))
      .find((id) => id !== undefined);
    if (owner === undefined && isOperators(engine)) return [];
    const line = {
      of: "engine",
      subject: engine.id,
      desired: nothing,
      generated: nothing,
      actual: `${engine.model} on ${placeText(engine)}`,
    } as const;
    return owner === undefined
      ? [{ ...line, says: `${engine.id} runs on ${placeText(engine)}, which the plan in force leaves free.` }]
      : [{ ...line, desired: owner, says: `${engine.id} runs on GPUs that the plan in force gives to ${owner}.` }];
  });
  return [...gone, ...strangers];
}

function gatewayLines(plan: Plan, { observation, config }: DriftContext): readonly DriftLine[] {
  if (config === null)
    return [
      {
        ...{ of: "policy", subject: "gateway", desired: `plan ${shortId(plan.id)}`, generated: `policy ${shortId(plan.policyHash)}` },
        ...{ actual: "no configuration", says: "The gateway has no configuration: it serves nothing." },
      },
    ];
  if (config.planId !== plan.id) return [otherPlan(plan, config)];
  // Engines that a plan contains without routing to them are not on the gateway's list.
  const routed = listedModelsOf(plan);
  const active = targetEngines(plan).flatMap(({ id, model }) => (routed.includes(model) ? [id] : []));
  const routing = { planId: plan.id, active, cordoned: [] };
  const { engines, timeScale } = observation;
  const made = gatewayConfig({ routing, plan, engines, judge: config.judge, timeScale, current: null });
  return [...policyLines(plan, config), ...(made === null ? [] : replicaLines(made, config))];
}

function otherPlan(plan: Plan | null, { planId, policyHash }: GatewayConfig): DriftLine {
  const desired = plan === null ? "no plan" : `plan ${shortId(plan.id)}`;
  const actual = planId === "" ? "no plan" : `plan ${shortId(planId)}`;
  return {
    ...{ of: "policy", subject: "gateway", desired, generated: plan === null ? nothing : `policy ${shortId(plan.policyHash)}` },
    actual: `${actual}, policy ${shortId(policyHash)}`,
    says: `The gateway follows ${actual}, and ${desired} is in force here: it was changed outside Weir.`,
  };
}

function policyLines({ policy, policyHash }: Plan, config: GatewayConfig): readonly DriftLine[] {
  if (config.policyHash === policyHash) return [];
  const line = { of: "policy", subject: "policy", desired: knobsText(policy), generated: `policy ${shortId(policyHash)}` } as const;
  const actual = `${knobsText(config.policy)}, policy ${shortId(config.policyHash)}`;
  if (!isDeepStrictEqual(withoutKnobs(policy), withoutKnobs(config.policy)))
    return [
      { ...line, actual, says: "The gateway runs another policy than the plan's under the plan's name: it was changed outside Weir." },
    ];
  return [{ ...line, actual, says: `Knobs were turned at the gateway: ${knobsText(policy)} became ${knobsText(config.policy)}.` }];
}

function replicaLines(made: GatewayConfig, config: GatewayConfig): readonly DriftLine[] {
  const line = (id: string, wanted: GatewayReplica | undefined, is: GatewayReplica | undefined, says: string): DriftLine => ({
    ...{ of: "routing", subject: id, desired: wanted === undefined ? nothing : "takes requests" },
    ...{ generated: replicaText(wanted), actual: replicaText(is), says },
  });
  const lost = made.replicas.flatMap((wanted): readonly DriftLine[] => {
    const is = config.replicas.find(({ id }) => id === wanted.id);
    if (is === undefined) return [line(wanted.id, wanted, is, `The gateway does not know ${wanted.id}, which the plan routes to.`)];
    if (is.state === "cordoned") return [line(wanted.id, wanted, is, `${wanted.id} is cordoned at the gateway: it takes no new requests.`)];
    if (is.url !== wanted.url)
      return [line(wanted.id, wanted, is, `The gateway asks ${wanted.id} at another address than the one it is at.`)];
    return isDeepStrictEqual(told(is), told(wanted))
      ? []
      : [line(wanted.id, wanted, is, `The gateway asks ${wanted.id} in another way than the plan has it.`)];
  });
  const added = config.replicas
    .filter(({ id, state }) => state === "active" && made.replicas.every((one) => one.id !== id))
    .map((is) => line(is.id, undefined, is, `The gateway sends requests to ${is.id}, which the plan in force does not have.`));
  return [...lost, ...added];
}

function objectLines({ objects, observation }: DriftContext): readonly DriftLine[] {
  const there = objects.filter(({ engineId }) => observation.engines.some(({ id, stopping }) => id === engineId && !stopping));
  return there.flatMap(({ engineId, generated, actual }): readonly DriftLine[] => {
    if (actual === null || actual === generated) return [];
    return [
      {
        ...{ of: "object", subject: engineId, desired: `as the plan starts ${engineId}` },
        ...{ generated: linesOnlyIn(generated, actual), actual: linesOnlyIn(actual, generated) },
        says: `The deployed object of ${engineId} differs from the generated one: it was changed outside Weir, or the connection changed since it was started.`,
      },
    ];
  });
}

const told = ({ key, caFile, servedName, maxInFlight }: GatewayReplica) => ({ key, caFile, servedName, maxInFlight });

const replicaText = (replica: GatewayReplica | undefined): string =>
  replica === undefined ? nothing : `${replica.state}, ${replica.url}, up to ${replica.maxInFlight} at once`;

/** The values that operators may change, in words. */
function knobsText(policy: PolicyDocument): string {
  const singles = singlesPolicyOf(policy);
  if (singles?.kind === "slack") return `tau ${singles.tau}, deltaScore ${singles.deltaScore}`;
  const thresholds = thresholdsOf(policy);
  return thresholds.length === 0 ? "no thresholds" : `threshold${thresholds.length === 1 ? "" : "s"} ${thresholds.join(", ")}`;
}

function withoutKnobs(policy: PolicyDocument): object {
  const singles = singlesPolicyOf(policy);
  if (singles?.kind === "cascade") return withSinglesPolicy(policy, { ...singles, thresholds: singles.thresholds.map(() => 0) });
  return singles?.kind === "slack" ? withSinglesPolicy(policy, { ...singles, tau: 0, deltaScore: 0 }) : policy;
}

/** Lines of a text that are missing in another, without their indentation. */
function linesOnlyIn(text: string, other: string): string {
  const there = new Set(other.split("\n").map((line) => line.trim()));
  const own = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !there.has(line));
  if (own.length === 0) return "the same lines in another order or number";
  return own.length <= shownLines ? own.join("\n") : `${own.slice(0, shownLines).join("\n")}\nand ${own.length - shownLines} more`;
}

const shortId = (id: string): string => id.slice(0, 8);
