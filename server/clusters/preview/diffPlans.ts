import { createHash } from "node:crypto";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { DiffLine } from "@/server/contracts/studio";
import { formatTau } from "@/solver/ensemble/gate/tauText";
import { gateText } from "@/solver/gates/gates";
import { orderNames, placeNames } from "@/solver/lab/partNames";
import { cascadeRoutingText } from "@/solver/nextModel/cascadeRoutingDocument";
import { canonicalJson, type Json } from "@/solver/plan/canonical";
import { routerText, startText } from "@/solver/plan/directStart";
import { graceText } from "@/solver/plan/grace";
import type { CascadePolicy, ModelDeployment, Plan } from "@/solver/plan/plan";
import {
  asksJudge,
  type JustInTimePolicy,
  listedModelsOf,
  modelsOf,
  type PolicyDocument,
  type SlackPolicy,
  singlesPolicyOf,
} from "@/solver/plan/policySchema";
import type { WorkflowAgent, WorkflowDocument } from "@/solver/plan/workflowDocument";
import { tokenPriceText } from "@/solver/wording/wording";
import { placeText, targetEngines } from "../steps/targetEngines";

/** Replicas of one model in words: `2 × tp 4, 1 × tp 8 on 16 h100-sxm`; of several GPU types `1 × tp 4 on h100-sxm, 1 × tp 8 on l40s, 12 GPUs`. */
function deploymentText({ replicas, gpus, gpu }: ModelDeployment): string {
  const mixed = replicas.some((group) => group.gpu !== undefined && group.gpu !== gpu);
  const shapes = replicas.map(
    ({ count, tp, pp, gpu: own = gpu }) => `${count} × tp ${tp}${pp > 1 ? ` pp ${pp}` : ""}${mixed ? ` on ${own}` : ""}`,
  );
  const limits = replicas.map(({ maxInFlight }) => (maxInFlight === undefined ? "no limit" : `${maxInFlight}`));
  const limited = replicas.some(({ maxInFlight }) => maxInFlight !== undefined);
  const where = mixed ? `, ${gpus} GPUs` : ` on ${gpus} ${gpu}`;
  return `${shapes.join(", ")}${where}${limited ? `; requests at once in each: ${limits.join(", ")}` : ""}`;
}

/** A line for a value that two plans may share; `before` null: the first has none. */
function valueLine(subject: string, before: string | null, after: string): DiffLine {
  if (before === null) return { sign: "+", of: "plan", subject, text: after };
  return before === after
    ? { sign: "=", of: "plan", subject, text: after }
    : { sign: "~", of: "plan", subject, text: `${before} -> ${after}` };
}

/** What happens to a plan's engine, by its sign. */
const plannedWords = { "+": "start", "-": "stop", "=": "stays" } as const;
const givenWords = { "+": "takes requests", "-": "takes none, runs on", "=": "takes requests as before" } as const;

function engineLines(from: Plan | null, to: Plan, topology: "planned" | "given"): readonly DiffLine[] {
  const before = from === null ? [] : targetEngines(from);
  const after = targetEngines(to);
  const kept = after.filter((engine) => before.some((one) => one.id === engine.id));
  const added = after.filter((engine) => !kept.includes(engine));
  const removed = before.filter((engine) => !after.some((one) => one.id === engine.id));
  const line = (sign: "+" | "-" | "=", engine: EngineOrder): DiffLine => {
    const text = topology === "given" ? givenWords[sign] : `${plannedWords[sign]} on ${placeText(engine)}`;
    return { sign, of: "engine", subject: engine.id, text };
  };
  return [
    ...added.map((engine) => line("+", engine)),
    ...removed.map((engine) => line("-", engine)),
    ...kept.map((engine) => line("=", engine)),
  ];
}

function deploymentLines(from: Plan | null, to: Plan): readonly DiffLine[] {
  const gone = (from?.deployment ?? []).filter((one) => !to.deployment.some((other) => other.model === one.model));
  return [
    ...to.deployment.map((deployment) => {
      const earlier = from?.deployment.find((one) => one.model === deployment.model);
      return valueLine(deployment.model, earlier === undefined ? null : deploymentText(earlier), deploymentText(deployment));
    }),
    ...gone.map((deployment) => ({ sign: "-" as const, of: "plan" as const, subject: deployment.model, text: deploymentText(deployment) })),
  ];
}

/** The settings of a policy, by subject. A subject that a policy does not have is left out: a single model has no judge. */
function policySays(policy: PolicyDocument): ReadonlyMap<string, string> {
  const learnt = Object.entries(policy.learnt ?? {}).flatMap(([of, hash = ""]): [string, string][] =>
    hash === "" ? [] : [[`predictor of ${of}`, hash.slice(0, 12)]],
  );
  return new Map([...routeSays(policy), ["order", wordsOf(policy.order)], ["placement", wordsOf(policy.place)], ...learnt]);
}

function routeSays(policy: PolicyDocument): readonly [string, string][] {
  switch (policy.kind) {
    case "cascade":
      return cascadeSays(policy);
    case "fixed":
      return [["fixed model", policy.model]];
    case "slack":
      return slackSays(policy);
    case "just-in-time":
      return justInTimeSays(policy);
    case "balanced":
      return [
        ["balancing", modelsOf(policy).join(" or ")],
        ...policy.models.map(({ model, maxBatchSize }): [string, string] => [`batch of ${model}`, `${maxBatchSize} at once`]),
      ];
  }
}

/** Such a number has three significant figures. */
const three = (value: number): string => String(Number(value.toPrecision(3)));

function justInTimeSays(policy: JustInTimePolicy): [string, string][] {
  const { models, workflows, selection, callGates = [] } = policy;
  const singles = singlesPolicyOf(policy);
  const ended = {
    throughput: ": more raise its throughput hardly",
    sequences: ": it takes no more",
    memory: ": more fill its KV cache",
  } as const;
  return [
    ["models at dispatch", models.map(({ model }) => model).join(" or ")],
    ["selection", selectionText(selection)],
    ...(singles === null ? [] : routeSays(singles).map(([of, says]): [string, string] => [`single requests: ${of}`, says])),
    ...models.flatMap(({ model, cost, saturationBatch, throughput, endedBy, meanOutputTokens }): [string, string][] => [
      [`cost of ${model}`, `${three(cost)} G active parameters a token`],
      [`saturation of ${model}`, `${saturationBatch} at once${endedBy === undefined ? "" : ended[endedBy]}`],
      [`tokens/s of ${model}`, throughput.map(({ batch, tokensPerSecond }) => `${three(tokensPerSecond)} at ${batch}`).join(", ")],
      ...(meanOutputTokens === undefined
        ? []
        : [[`answers of ${model}`, `${three(meanOutputTokens)} tokens in the mean`] as [string, string]]),
    ]),
    ...callGates.map(({ model, gate, prior }): [string, string] => [
      `gate of agents' answers by ${model}`,
      `${gateText(gate)}; before a score ${three(100 * prior)} % are right`,
    ]),
    ...workflows.map(({ workflow, predictor, answers = [] }): [string, string] => {
      const told = answers.map(
        ({ agent, model, rightIfAccurate, rightIfNot }) =>
          `; answers of ${agent} by ${model} right in ${three(100 * rightIfAccurate)} % where accurate, ${three(100 * rightIfNot)} % else`,
      );
      const named = predictor === undefined ? "the largest models alone count as accurate" : `predictor ${predictor.slice(0, 12)}`;
      return [
        `workflow ${workflow.name}`,
        `${workflow.agents.map(agentText).join("; ")}; ${named}${told.join("")}; document ${digestOf(workflow)}`,
      ];
    }),
  ];
}

function agentText({ name, reads, models, sameModelAs, skip }: WorkflowAgent): string {
  const told = [
    ...(reads.length === 0 ? [] : [`reads ${reads.join(" and ")}`]),
    ...(models === undefined ? [] : [`on ${models.join(" or ")}`]),
    ...(sameModelAs === undefined ? [] : [`on the model of ${sameModelAs}`]),
    ...(skip === undefined ? [] : [`skipped from an agreement of ${formatTau(skip.tau, reads.length)}`]),
  ];
  return told.length === 0 ? name : `${name} (${told.join(", ")})`;
}

function selectionText(selection: JustInTimePolicy["selection"]): string {
  switch (selection.kind) {
    case "beam":
      return `beam of width ${selection.width}`;
    case "quickest":
      return selection.when === "arrival" ? "quickest when the program arrives" : "quickest at each stage";
    case "fixed":
      return Object.entries(selection.configurations)
        .map(
          ([workflow, configuration]) =>
            `${workflow}: ${Object.entries(configuration)
              .map((agent) => agent.join(" on "))
              .join(", ")}`,
        )
        .join("; ");
    case "cheapest":
      return "cheapest when the program comes";
    case "worth":
      return `by worth: a right answer ${three(selection.rightSeconds)} s, delays of others ${three(selection.delayWeight)} times${priceText(selection)}`;
    case "exhaustive":
      return "every assignment of the oldest";
  }
}

const priceText = ({ price }: Extract<JustInTimePolicy["selection"], { kind: "worth" }>): string =>
  price === undefined ? "" : `, prices of ${tokenPriceText(price.models)}, smoothed over ${three(price.dampingSeconds)} s`;

/** Documents that differ in anything, such as agents' instructions, have different digests. */
const digestOf = (workflow: WorkflowDocument): string =>
  createHash("sha256")
    .update(canonicalJson(workflow as unknown as Json))
    .digest("hex")
    .slice(0, 8);

function slackSays(policy: SlackPolicy): [string, string][] {
  const { models, tau, deltaScore, floorSeconds, price, changesModel, approvedRanges } = policy;
  return [
    ["slack dispatch", modelsOf(policy).join(" or ")],
    ["slack", `τ ${three(tau)}, margin ${three(deltaScore)}, floor ${three(floorSeconds)} s`],
    ["later requests of a program", changesModel ? "go to another model when their own is beyond the slack" : "stay at its model"],
    ...models.map(({ model, confidence, decodeSecondsPerToken, maxBatchSize }): [string, string] => {
      return [`load of ${model}`, `confidence ${three(confidence)}, ${three(decodeSecondsPerToken)} s a token, ${maxBatchSize} at once`];
    }),
    ...(price === undefined
      ? []
      : [
          [
            "price of capacity",
            `a model counts ${price.weight} less confident for each ${three(floorSeconds)} s of load, smoothed over ${price.dampingSeconds} s`,
          ] as [string, string],
        ]),
    ["approved range of τ", `${three(approvedRanges.tau.min)} to ${three(approvedRanges.tau.max)}`],
    ["approved range of the margin", `${three(approvedRanges.deltaScore.min)} to ${three(approvedRanges.deltaScore.max)}`],
  ];
}

function cascadeSays(policy: CascadePolicy): [string, string][] {
  const { stages, thresholds, gates, judge, directStart, cascadeRouting, approvedRanges, grace } = policy;
  const said: [string, string][] = [["cascade", stages.map(({ model }) => model).join(" then ")]];
  for (const [stage, threshold] of thresholds.entries()) {
    const model = stages[stage]?.model ?? `stage ${stage + 1}`;
    said.push([`threshold after ${model}`, threshold === 0 ? "accept all, not judged" : `accept at ${threshold} or more`]);
    const range = approvedRanges.thresholds[stage];
    if (range !== undefined) said.push([`approved range after ${model}`, `${range.min} to ${range.max}`]);
  }
  for (const [stage, gate] of (gates ?? []).entries()) said.push([`gate after ${stages[stage]?.model ?? ""}`, gateText(gate)]);
  if (asksJudge(policy)) said.push(["judge", judgeText(judge)]);
  if (grace !== undefined) said.push(["grace", graceText(grace)]);
  if (cascadeRouting !== undefined && directStart !== undefined) {
    const { pointsPerGpuSecond: _, ...fit } = cascadeRouting;
    said.push(["cascade routing", `${cascadeRoutingText(policy)}, by ${routerText(directStart.router)}`]);
    said.push([
      "fit of cascade routing",
      createHash("sha256")
        .update(canonicalJson(fit as unknown as Json))
        .digest("hex")
        .slice(0, 12),
    ]);
  } else if (directStart !== undefined)
    said.push([
      "direct start",
      `at the first stage with a router score of ${startText(directStart.below)} or more, by ${routerText(directStart.router)}`,
    ]);
  return said;
}

function judgeText({ model, secondsPerCall, usdPerCall, engine, whenDown }: CascadePolicy["judge"]): string {
  return [
    model,
    `${three(secondsPerCall)} s a call`,
    ...(usdPerCall === 0 ? [] : [`$${usdPerCall} a call`]),
    ...(engine === undefined ? [] : [`an engine here, rubric of ${engine.rubricTokens} tokens, answer of ${engine.outputTokens}`]),
    ...(whenDown === "largest" ? ["the last stage answers while it is down"] : []),
  ].join(", ");
}

/** Names of orders and placements, as in the forms where they are chosen. */
const kindWords = { ...orderNames, ...placeNames };

/** An order or a placement with its settings: `shortest program first (STJF), aging threshold 100`. */
function wordsOf({ kind, ...settings }: CascadePolicy["order"] | CascadePolicy["place"]): string {
  const words = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const told = Object.entries(settings).map(([name, value]) => {
    const inner = Array.isArray(value) || typeof value !== "object" ? [value].flat() : Object.entries(value).flat();
    return `${words(name)} ${inner.join(" ")}`;
  });
  return [kindWords[kind], ...told].join(", ");
}

function policyLines(from: Plan | null, to: Plan): readonly DiffLine[] {
  const before = from === null ? new Map<string, string>() : policySays(from.policy);
  const after = policySays(to.policy);
  const gone = [...before].filter(([subject]) => !after.has(subject));
  return [
    ...[...after].map(([subject, text]) => valueLine(subject, before.get(subject) ?? null, text)),
    ...gone.map(([subject, text]) => ({ sign: "-" as const, of: "plan" as const, subject, text })),
  ];
}

/** A plan with only the models that its policy needs or keeps ready. */
function routedPart(plan: Plan): Plan {
  const needed = listedModelsOf(plan);
  return { ...plan, deployment: plan.deployment.filter(({ model }) => needed.includes(model)) };
}

/**
 * The changes between two plans, in words: models, then routing, then single engines. `from` null: nothing runs. With a given topology no
 * engine is started or stopped: the lines say which engines take requests, and leave out those that neither plan uses.
 */
export function diffPlans(from: Plan | null, to: Plan, topology: "planned" | "given" = "planned"): readonly DiffLine[] {
  const told = (plan: Plan): Plan => (topology === "given" ? routedPart(plan) : plan);
  const [before, after] = [from === null ? null : told(from), told(to)];
  return [...deploymentLines(before, after), ...policyLines(before, after), ...engineLines(before, after, topology)];
}
