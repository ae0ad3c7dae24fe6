import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import {
  type ConfigRequest,
  type GatewayConfig,
  type PreviousPlan,
  withEnsembles,
  withKeys,
} from "@/server/contracts/gateway/gatewayAdmin";
import type { Candidate, KnobsRequest, Signature } from "@/server/contracts/gateway/gatewayControls";
import type { GatewayKey } from "@/server/contracts/gateway/gatewayKeys";
import { formOfHash, revisedPolicy } from "@/server/contracts/gateway/policyHash";
import { partsOf, type SignedPart, signedParts } from "@/server/contracts/gateway/signedOrder";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { asksJudge, learntOf } from "@/solver/plan/policySchema";
import { type ApiError, badRequest, conflict } from "../http/apiError";
import { missingJudgeKey } from "../judge/judgeEndpoint";
import { type AuditLog, type AuditNote, withReason } from "../lib/auditLog";
import { isSamePlan, shortId } from "../lib/planName";
import { configRefusal, priceRefusal } from "./configRefusal";
import { type ConfigStore, configEtag, type LoadedConfig, type PlanPart } from "./configStore";
import type { Serving } from "./serving";
import type { AcceptedOrder, Proofs, StudioOrders } from "./studioOrders";

/** The ETag of having no configuration yet: a first PUT carries `If-Match: "none"`. */
const noConfigEtag = "none";

interface ConfigurationOptions {
  readonly serving: Serving;
  readonly store: ConfigStore;
  readonly orders: StudioOrders;
  readonly audit: AuditLog;
  /** Called for each configuration as soon as it is in force. */
  readonly onInstalled: (config: GatewayConfig, etag: string) => void;
  readonly log: Logger;
}

/** The configuration in force and the operations that change it. Each change is durable before it is in force. */
export class Configuration {
  readonly #options: ConfigurationOptions;
  #previous: PlanPart | null = null;
  /** What the studio signed of the configuration, and of the plan before it. */
  #proofs: Proofs = {};
  #previousProofs: Proofs = {};
  /** ETag of `config`: hashing a large configuration at each read of the status would delay requests. */
  #hashed: { readonly config: GatewayConfig; readonly etag: string } | null = null;

  constructor(options: ConfigurationOptions) {
    this.#options = options;
  }

  get current(): GatewayConfig | null {
    return this.#options.serving.config;
  }

  get etag(): string {
    const { current } = this;
    if (current === null) return noConfigEtag;
    if (this.#hashed?.config !== current) this.#hashed = { config: current, etag: configEtag(current) };
    return this.#hashed.etag;
  }

  /** The plan that a rollback restores; null if there is none. */
  get previous(): PreviousPlan | null {
    if (this.#previous === null) return null;
    const { name, planId, policyHash: hash } = this.#previous;
    return { name, planId, policyHash: hash };
  }

  /** Predictors of the plan in force and of the one before it. */
  get learnt(): readonly string[] {
    return [this.current, this.#previous].flatMap((part) => (part === null ? [] : learntOf(part.policy)));
  }

  /** ETag of the configuration on disk, which a restart would serve; null if none could be served. */
  persistedEtag(): Promise<string | null> {
    return this.#options.store.etag();
  }

  /**
   * Puts the configuration of an earlier start into force.
   * @returns why it cannot, in one sentence; null if it did or there is none.
   */
  async load(): Promise<string | null> {
    const loaded = await this.#options.store.load();
    if (loaded.kind === "none") return null;
    if (loaded.kind === "unusable") return loaded.reason;
    const unproven = await this.#untrusted(loaded);
    if (unproven !== null) return `${this.#options.store.path}: ${unproven}`;
    this.#proofs = loaded.proofs;
    this.#options.serving.secrets.begin([loaded.config, ...(this.#previous === null ? [] : [this.#previous])]);
    this.#options.serving.install(loaded.config, loaded.earlierNames);
    const known = this.#options.audit.latestChange?.etag;
    if (known !== this.etag && known !== loaded.savedEtag) {
      const { planId, policyHash: hash } = loaded.config;
      const what = `Started with the plan ${shortId(planId)}, policy ${shortId(hash)}, in a configuration that the audit does not contain`;
      const why = "the gateway ended before the line was written, or the file is another's";
      await this.#note({ by: "gateway", action: "configuration", detail: `${what}: ${why}.` });
    }
    return null;
  }

  /**
   * Why a stored configuration is not served: its file may have been written by anybody; null if it is. A previous plan that the studio did not
   * sign is forgotten.
   */
  async #untrusted({
    config,
    savedEtag,
    previous,
    proofs,
    previousProofs,
  }: Extract<LoadedConfig, { kind: "loaded" }>): Promise<string | null> {
    const { orders, log } = this.#options;
    const unproven = this.#unproven(config, proofs) ?? (formOfHash(config.policy, config.policyHash) === null ? "policy" : null);
    const isOlder = orders.areSigned && unproven !== null && Object.keys(proofs).length === 0 && (await orders.admitsUnsigned(savedEtag));
    if (orders.areSigned && unproven !== null && !isOlder) return notSigned(unproven).message;
    if (isOlder) log.warn("the configuration is from before orders were signed: it is served until the studio signs another");
    const isProven = previous === null || this.#unproven({ ...config, ...previous }, { ...proofs, ...previousProofs }) === null;
    if (isProven) {
      this.#previous = previous;
      this.#previousProofs = previousProofs;
    }
    return null;
  }

  /** Puts a whole validated configuration into force; without settings it keeps the present ones. */
  async put({ by, reason, ...given }: ConfigRequest, order: AcceptedOrder): Promise<ApiError | null> {
    const settings = given.settings ?? this.current?.settings;
    const config = settings === undefined ? given : { ...given, settings };
    const change = configChange(this.current, config);
    const proofs = this.#proofsBy(order);
    const unproven = this.#unproven(config, proofs);
    if (unproven !== null) return notSigned(unproven);
    // Only now: a secret goes to the origin that the studio signed.
    this.#options.serving.secrets.enter(config);
    const note: AuditNote | null = change === null ? null : { by, action: "configuration", detail: withReason(change, reason) };
    return this.#replace(config, note, proofs);
  }

  /**
   * Puts a candidate's plan and policy into force over the present engines; the previous plan is kept for a rollback.
   *
   * @param proof the text that the studio signed about the candidate, if orders are signed.
   * @returns why it cannot; null if it did.
   */
  async adopt({ planId, policyHash: hash, policy }: Candidate, note: AuditNote, proof: string | undefined): Promise<ApiError | null> {
    if (this.current === null) throw new Error("There is no configuration to add a candidate to.");
    const proofs = { ...this.#proofs, ...(proof === undefined ? {} : { policy: proof }) };
    return this.#replace({ ...this.current, planId, policyHash: hash, policy }, note, proofs, planPart(this.current));
  }

  /**
   * Sets knobs of the policy in force inside their approved ranges.
   * @returns why it cannot; null if it did.
   */
  async turnKnobs({ by, reason, ...knobs }: KnobsRequest, order: AcceptedOrder): Promise<ApiError | null> {
    if (this.current === null) return noPlan;
    const revised = revisedPolicy(this.current, knobs);
    if (typeof revised === "string") return badRequest(revised);
    const { change, ...policy } = revised;
    if (this.current.judge === null && asksJudge(policy.policy)) return noJudge;
    const note = { by, action: "knobs turned", detail: withReason(change, reason) } as const;
    return this.#replace({ ...this.current, ...policy }, note, this.#proofsBy(order));
  }

  /**
   * Serves these ensembles with the plan instead of the present ones.
   * @returns the error; null on success.
   */
  async serveEnsembles(ensembles: readonly Ensemble[], note: AuditNote, order: AcceptedOrder): Promise<ApiError | null> {
    if (this.current === null) return noPlan;
    return this.#replace(withEnsembles(this.current, ensembles), note, this.#proofsBy(order));
  }

  /**
   * Accepts these keys of clients instead of the present ones.
   * @returns the error; null on success.
   */
  async setKeys(keys: readonly GatewayKey[], note: AuditNote, order: AcceptedOrder): Promise<ApiError | null> {
    if (this.current === null) return noPlan;
    const config = withKeys(this.current, keys);
    const refusal = configRefusal(config) ?? priceRefusal(config);
    if (refusal !== null) return badRequest(refusal);
    return this.#replace(config, note, this.#proofsBy(order));
  }

  /**
   * Puts the previous plan into force, over the present engines.
   * @returns why it cannot; null if it did.
   */
  async rollBack({ by, reason }: Signature): Promise<ApiError | null> {
    const { current } = this;
    if (current === null) return noPlan;
    const previous = this.#previous;
    const { serving } = this.#options;
    if (previous === null) return conflict("No plan was in force before this one, so there is nothing to roll back to.");
    const config = { ...current, ...previous };
    const refusal =
      configRefusal(config) ?? serving.artifacts.refusal(config.policy) ?? missingJudgeKey(config.judge) ?? serving.secrets.refusal(config);
    if (refusal !== null) return conflict(`The plan ${shortId(previous.planId)} cannot be served now. ${refusal}`);
    const detail = withReason(`From the plan ${shortId(current.planId)} back to ${shortId(previous.planId)}`, reason);
    const proofs = { ...this.#proofs, ...this.#previousProofs };
    return this.#replace(config, { by, action: "rolled back", detail }, proofs, planPart(current));
  }

  /** The proofs of the present configuration, with the order's in place of those parts that it signs. */
  #proofsBy(order: AcceptedOrder): Proofs {
    if (order === null) return {};
    const { text, parts } = order;
    return { ...this.#proofs, ...Object.fromEntries(Object.keys(parts).map((part) => [part, text])) };
  }

  /** The first part of a configuration that its proofs do not cover; null: they cover all, or orders are not signed. */
  #unproven(config: GatewayConfig, proofs: Proofs): SignedPart | null {
    const { orders } = this.#options;
    if (!orders.areSigned) return null;
    const parts = partsOf(config);
    return (
      signedParts.find((part) => {
        const statement = orders.proven(proofs[part]);
        return statement?.parts[part] !== parts[part] || (part === "policy" && !policyOrders.has(statement.order));
      }) ?? null
    );
  }

  /**
   * The plan before `config` is the last one in force under another id, unless the caller specifies it, and never `config`'s own.
   * @returns why it is not put into force: the studio did not sign all of it; null if it is.
   */
  async #replace(config: GatewayConfig, note: AuditNote | null, proofs: Proofs, before?: PlanPart): Promise<ApiError | null> {
    const { serving, store, onInstalled } = this.#options;
    const { current } = this;
    const unproven = this.#unproven(config, proofs);
    if (unproven !== null) return notSigned(unproven);
    const another = current !== null && current.planId !== "" && current.planId !== config.planId;
    const last = before ?? (another ? planPart(current) : null);
    const previous = last === null || isSamePlan(last, config) ? this.#previous : last;
    const earlierNames = serving.cascadeNames.earlierUnder(config.name);
    const { policy, judge } = this.#proofs;
    const previousProofs = previous === null ? {} : previous === last ? { policy, judge } : this.#previousProofs;
    await store.save({ config, earlierNames, previous, proofs, previousProofs });
    this.#previous = previous;
    this.#proofs = proofs;
    this.#previousProofs = previousProofs;
    serving.install(config, earlierNames);
    onInstalled(config, this.etag);
    if (note !== null) await this.#note(note);
    return null;
  }

  /** A configuration stays in force if its audit line cannot be written: to report that nothing was done would be wrong. */
  async #note(note: AuditNote): Promise<void> {
    const line = { ...note, etag: this.etag };
    const { audit, log } = this.#options;
    await audit.note(line).catch((err: unknown) => log.error({ err, line }, "an audit entry could not be written"));
  }
}

function planPart({ name, planId, policyHash: hash, policy, judge }: GatewayConfig): PlanPart {
  return { name, planId, policyHash: hash, policy, judge };
}

/** Orders that put a policy into force; a shadow's candidate may be unapproved. */
const policyOrders: ReadonlySet<string> = new Set(["PUT /config", "PATCH /knobs", "PUT /canary"]);

const partNames: Readonly<Record<SignedPart, string>> = { policy: "policy", judge: "name and judge", engines: "engines and settings" };

const notSigned = (part: SignedPart): ApiError => ({
  status: 403,
  message: `The studio did not sign the ${partNames[part]} of this configuration: apply an approved plan from the studio.`,
  type: "permission_error",
  code: "part_not_signed",
});

/** Policies from before a threshold of 0 meant that nothing is judged let an operator raise it. */
const noJudge = badRequest(
  "A threshold above 0 needs judged scores, and this gateway has no judge, as nothing was judged so far: apply a plan with a judge first.",
);

const noPlan = conflict("No configuration is in force yet; apply a plan first.");

/** The change from the previous configuration, in a sentence without its full stop; null if there is none. */
function configChange(before: GatewayConfig | null, after: GatewayConfig): string | null {
  const { planId, policyHash, replicas } = after;
  const changed = changedParts(before, after);
  if (before === null || !isSamePlan(before, after)) {
    const beside = changed.length === 0 ? "" : `; changed with it: ${changed.join(", ")}`;
    return `The plan ${shortId(planId)} with the policy ${shortId(policyHash)} came into force over ${replicas.length} engines${beside}`;
  }
  return changed.length === 0 ? null : `Changed under the plan ${shortId(planId)}: ${changed.join(", ")}`;
}

/** The changed parts of a configuration outside of its plan; for keys and addresses only that they changed, not their values. */
function changedParts(before: GatewayConfig | null, after: GatewayConfig): readonly string[] {
  const [settings, was] = [after.settings ?? {}, before?.settings ?? {}];
  const members = [...new Set([...Object.keys(settings), ...Object.keys(was)])] as (keyof typeof settings)[];
  const set = members.filter((member) => !isDeepStrictEqual(settings[member], was[member]));
  const parts = set.length === 0 ? [] : [`settings (${set.join(", ")})`];
  if (before === null) return parts;
  if (!isDeepStrictEqual(before.replicas, after.replicas)) parts.push(`engines (${engineChange(before.replicas, after.replicas)})`);
  if (!isDeepStrictEqual(before.judge, after.judge)) parts.push("judge");
  if (before.name !== after.name) parts.push(`name (${after.name})`);
  if (before.timeScale !== after.timeScale) parts.push(`time scale (${after.timeScale})`);
  return parts;
}

function engineChange(before: GatewayConfig["replicas"], after: GatewayConfig["replicas"]): string {
  const was = new Map(before.map((replica) => [replica.id, replica]));
  const kept = after.filter(({ id }) => was.has(id));
  const altered = kept.filter((replica) => !isDeepStrictEqual(replica, was.get(replica.id)));
  const [added, removed] = [after.length - kept.length, before.length - kept.length];
  const counts = Object.entries({ added, removed, altered: altered.length }).filter(([, count]) => count > 0);
  return counts.length === 0 ? "another order" : counts.map(([what, count]) => `${count} ${what}`).join(", ");
}
