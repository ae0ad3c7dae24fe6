import type { GatewayConfig, GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayKey } from "@/server/contracts/gateway/gatewayKeys";
import { type Ensemble, OWN_NAMES } from "@/solver/ensemble/gate/ensembleDocument";
import { extractionProblem } from "@/solver/ensemble/gate/voteReader";
import { simpleGatesOf } from "@/solver/gates/gateDocument";
import { logProbabilityGates } from "@/solver/plan/planGates";
import { asksJudge, gatePeersOf, gatesOf, modelsOf, type PolicyDocument, singleStagesOf } from "@/solver/plan/policySchema";
import { policyRefusal } from "@/solver/policies/policyRefusal";
import { keyLimits } from "@/solver/wording/keyLimits";

/** Why a configuration of the right shape cannot be served, in one sentence with the offending value; null if it can. */
export function configRefusal({ policy, replicas, judge, settings }: GatewayConfig): string | null {
  const refusal = policyRefusal(policy);
  if (refusal !== null) return refusal;
  const ids = replicas.map((replica) => replica.id);
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) return `Two replicas are called ${repeated}; ids must differ.`;
  const taken = replicas.find((replica) => OWN_NAMES.test(replica.model));
  if (taken !== undefined) return `The replica ${taken.id} is of the model ${taken.model}, a reserved name; rename it.`;
  const urls = [...replicas.map((replica) => replica.url), ...(judge?.url === undefined ? [] : [judge.url])];
  for (const url of urls) {
    const wrong = addressRefusal(url);
    if (wrong !== null) return wrong;
  }
  const open = replicas.find(({ caFile, url }) => caFile !== undefined && !url.startsWith("https:"));
  if (open !== undefined) return `The replica ${open.id} has a CA file, but ${open.url} is not an https address.`;
  const lonely = modelsOf(policy).find((model) => !replicas.some((replica) => replica.model === model));
  if (lonely !== undefined) return `The stage ${lonely} has no replica; add at least one, cordoned if it is not ready.`;
  if (judge?.url === undefined && judge?.keyFromEnvironment !== undefined)
    return `The judge ${judge.model} has a key from ${judge.keyFromEnvironment} but no url; engines of the configuration need none.`;
  if (judge !== null && judge.url === undefined && !replicas.some((replica) => replica.model === judge.model))
    return `The judge ${judge.model} has neither a url nor a replica; add one of them.`;
  if (judge === null && asksJudge(policy))
    return `A cascade of ${singleStagesOf(policy).length} stages needs judged scores, but no judge is given.`;
  const unable = gateRefusal(policy, replicas) ?? hostedRefusal({ policy, replicas, judge });
  if (unable !== null) return unable;
  return settings === undefined ? null : settingsRefusal(settings);
}

/** Which gate cannot work with the engines, in one sentence; null if all can. */
function gateRefusal(policy: PolicyDocument, replicas: GatewayConfig["replicas"]): string | null {
  const peer = gatePeersOf(policy).find((model) => !replicas.some((replica) => replica.model === model));
  if (peer !== undefined) return `A gate compares answers with those of ${peer}, which has no replica; add at least one.`;
  for (const { stage, model, kind } of logProbabilityGates(policy)) {
    const silent = replicas.find((replica) => replica.model === model && replica.logProbabilities === false);
    if (silent === undefined) continue;
    return stage === null
      ? `The ${kind} gate of agents' answers by ${model} reads log probabilities, which its engine ${silent.id} does not report.`
      : `The ${kind} gate of stage ${stage + 1} reads log probabilities, which the engine ${silent.id} of ${model} does not report.`;
  }
  return null;
}

/** Why hosted models cannot have the part that they are given, in one sentence; null if they can. */
function hostedRefusal({ policy, replicas, judge }: Pick<GatewayConfig, "policy" | "replicas" | "judge">): string | null {
  const hosted = replicas.filter((replica) => replica.hosted !== undefined);
  if (hosted.length === 0) return null;
  const models = new Set(hosted.map(({ model }) => model));
  const mixed = replicas.find((replica) => replica.hosted === undefined && models.has(replica.model));
  if (mixed !== undefined)
    return `The model ${mixed.model} is hosted, but the replica ${mixed.id} of it is not; give the two different names.`;
  const twice = hosted.find(({ model, id }) => hosted.some((other) => other.model === model && other.id !== id));
  if (twice !== undefined) return `The hosted model ${twice.model} is listed twice; list it once, with its whole rate and budget.`;
  if (judge !== null && judge.url === undefined && models.has(judge.model))
    return `The judge ${judge.model} is a hosted model; give it as a judge with a url, since every request would leave the house.`;
  const peer = comparedModels(policy).find((model) => models.has(model));
  if (peer !== undefined) return `A gate asks ${peer}, a hosted model, for further answers; compare with models of the house.`;
  if (policy.kind === "cascade" || policy.kind === "fixed") return null;
  const routed = modelsOf(policy).find((model) => models.has(model));
  if (routed === undefined) return null;
  return `The model ${routed} is hosted, and a policy of the kind ${policy.kind} cannot use it; make it a stage of a cascade.`;
}

/** The models that gates ask for further answers: others, or the stage's own. */
const comparedModels = (policy: PolicyDocument): readonly string[] =>
  gatesOf(policy).flatMap((gate, stage) =>
    simpleGatesOf(gate).flatMap((each) => (each.kind === "agreement" ? (each.peers ?? singleStagesOf(policy)[stage] ?? []) : [])),
  );

/** Why an address is unusable; null if it is usable. */
function addressRefusal(url: string): string | null {
  const { protocol, host, pathname, username, password, search, hash } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return `${url} is not an http or https address.`;
  // The address is not repeated whole: it may contain a secret.
  if (username !== "" || password !== "") return `The address of ${host} holds a user or a password, which the gateway does not send.`;
  if (search !== "" || hash !== "") return `The address ${host}${pathname} ends in a query or a fragment, which the gateway does not send.`;
  return /\/v1\/?$/.test(pathname) ? `${url} ends in /v1, which the gateway itself appends.` : null;
}

function settingsRefusal({ keys = [], priorityClasses = [], ensembles = [] }: GatewaySettings): string | null {
  const twice = (names: readonly string[]) => names.find((name, index) => names.indexOf(name) !== index);
  const key = twice(keys.map(({ name }) => name));
  if (key !== undefined) return `Two API keys are called ${key}; names must differ.`;
  const secret = twice(keys.map(({ sha256 }) => sha256));
  if (secret !== undefined) return `Two API keys have the SHA-256 ${secret}; each name needs its own key.`;
  const objective = twice(priorityClasses.map(({ name }) => name));
  if (objective !== undefined) return `The class of work ${objective} is listed twice.`;
  const astray = keys.find((one) => one.objective !== undefined && !priorityClasses.some(({ name }) => name === one.objective));
  if (astray !== undefined) return `The API key ${astray.name} belongs to the class ${astray.objective}, which is not listed.`;
  return ensembles.map(ensembleRefusal).find((refusal) => refusal !== null) ?? null;
}

/**
 * Which key has a budget in USD while a model has no price, in one sentence; null if none. Checked where keys or settings change and not where
 * a plan does: a request of such a key for a model without a price is refused.
 */
export function priceRefusal({ replicas, settings }: Pick<GatewayConfig, "replicas" | "settings">): string | null {
  const { keys = [], prices = {} } = settings ?? {};
  const model = replicas.find((replica) => replica.hosted === undefined && prices[replica.model] === undefined)?.model;
  const hasMoney = ({ limits }: GatewayKey): boolean => keyLimits.some(({ name, unit }) => unit === "usd" && limits?.[name] !== undefined);
  const key = keys.find((one) => one.revokedAt === undefined && hasMoney(one));
  if (model === undefined || key === undefined) return null;
  return `The API key ${key.name} has a budget in USD, but the model ${model} has no price; add it to the settings' prices.`;
}

/** Why an ensemble cannot be served, in one sentence; null if it can, provided that its models are served. */
export function ensembleRefusal({ name, extraction }: Ensemble): string | null {
  const problem = extractionProblem(extraction);
  return problem === null ? null : `The ensemble ${name} cannot read votes. ${problem}`;
}
