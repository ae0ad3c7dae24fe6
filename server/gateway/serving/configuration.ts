import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import type { ConfigRequest, GatewayConfig, PreviousPlan } from "@/server/contracts/gateway/gatewayAdmin";
import type { Candidate, KnobsRequest, Signature } from "@/server/contracts/gateway/gatewayControls";
import type { GatewayKey } from "@/server/contracts/gateway/gatewayKeys";
import { formOfHash, policyHash } from "@/server/contracts/gateway/policyHash";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { withOldNames } from "@/solver/plan/deprecatedFields";
import { learntOf } from "@/solver/plan/policySchema";
import { policyWithOverrides } from "@/solver/policies/policyControls";
import { type ApiError, badRequest, conflict } from "../http/apiError";
import { missingJudgeKey } from "../judge/judgeEndpoint";
import { type AuditLog, type AuditNote, withReason } from "../lib/auditLog";
import { isSamePlan, shortId } from "../lib/planName";
import { configRefusal } from "./configRefusal";
import { type ConfigStore, configEtag, type PlanPart } from "./configStore";
import type { Serving } from "./serving";

/** The ETag of having no configuration yet: a first PUT carries `If-Match: "none"`. */
const noConfigEtag = "none";

interface ConfigurationOptions {
  readonly serving: Serving;
  readonly store: ConfigStore;
  readonly audit: AuditLog;
  /** Called for each configuration as soon as it is in force. */
  readonly onInstalled: (config: GatewayConfig, etag: string) => void;
  readonly log: Logger;
}

/** The configuration in force and the operations that change it. Each change is durable before it is in force. */
export class Configuration {
  readonly #options: ConfigurationOptions;
  #previous: PlanPart | null = null;
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
    this.#previous = loaded.previous;
    this.#options.serving.secrets.begin([loaded.config, ...(loaded.previous === null ? [] : [loaded.previous])]);
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

  /** Puts a whole validated configuration into force; without settings it keeps the present ones. */
  async put({ by, reason, ...given }: ConfigRequest): Promise<void> {
    const settings = given.settings ?? this.current?.settings;
    const config = settings === undefined ? given : { ...given, settings };
    const change = configChange(this.current, config);
    this.#options.serving.secrets.enter(config);
    await this.#replace(config, change === null ? null : { by, action: "configuration", detail: withReason(change, reason) });
  }

  /** Puts a candidate's plan and policy into force over the present engines; the previous plan is kept for a rollback. */
  async adopt({ planId, policyHash: hash, policy }: Candidate, note: AuditNote): Promise<void> {
    if (this.current === null) throw new Error("There is no configuration to add a candidate to.");
    const before = planPart(this.current);
    await this.#replace({ ...this.current, planId, policyHash: hash, policy }, note, before);
  }

  /**
   * Sets knobs of the policy in force inside their approved ranges.
   * @returns why it cannot; null if it did.
   */
  async turnKnobs({ by, reason, ...knobs }: KnobsRequest): Promise<ApiError | null> {
    if (this.current === null) return noPlan;
    const turned = policyWithOverrides(this.current.policy, knobs);
    if (typeof turned === "string") return badRequest(turned);
    const { policy, change } = turned;
    // A policy with its original knobs has the hash of its plan again, under old or new field names.
    const old =
      policyHash(this.current.policy) !== this.current.policyHash && formOfHash(this.current.policy, this.current.policyHash) !== null;
    await this.#replace(
      { ...this.current, policy, policyHash: policyHash(old ? withOldNames(policy) : policy) },
      { by, action: "knobs turned", detail: withReason(change, reason) },
    );
    return null;
  }

  /**
   * Serves these ensembles with the plan instead of the present ones.
   * @returns the error; null on success.
   */
  async serveEnsembles(ensembles: readonly Ensemble[], note: AuditNote): Promise<ApiError | null> {
    if (this.current === null) return noPlan;
    const { ensembles: _, ...settings } = this.current.settings ?? {};
    const changed = ensembles.length === 0 ? settings : { ...settings, ensembles: [...ensembles] };
    await this.#replace({ ...this.current, settings: changed }, note);
    return null;
  }

  /**
   * Accepts these keys of clients instead of the present ones.
   * @returns the error; null on success.
   */
  async setKeys(keys: readonly GatewayKey[], note: AuditNote): Promise<ApiError | null> {
    if (this.current === null) return noPlan;
    const config = { ...this.current, settings: { ...this.current.settings, keys: [...keys] } };
    const refusal = configRefusal(config);
    if (refusal !== null) return badRequest(refusal);
    await this.#replace(config, note);
    return null;
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
    await this.#replace(config, { by, action: "rolled back", detail }, planPart(current));
    return null;
  }

  /** The plan before `config` is the last one in force under another id, unless the caller specifies it, and never `config`'s own. */
  async #replace(config: GatewayConfig, note: AuditNote | null, before?: PlanPart): Promise<void> {
    const { serving, store, onInstalled } = this.#options;
    const { current } = this;
    const another = current !== null && current.planId !== "" && current.planId !== config.planId;
    const last = before ?? (another ? planPart(current) : null);
    const previous = last === null || isSamePlan(last, config) ? this.#previous : last;
    const earlierNames = serving.cascadeNames.earlierUnder(config.name);
    await store.save({ config, earlierNames, previous });
    this.#previous = previous;
    serving.install(config, earlierNames);
    onInstalled(config, this.etag);
    if (note !== null) await this.#note(note);
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
