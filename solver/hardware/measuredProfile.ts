import { z } from "zod";
import { type UserCards, userCardsSchema } from "./cardSchema";
import { type MeasuredEngine, measuredEngineSchema } from "./measuredEngine";
import type { ReplicaShape } from "./parallelism";
import { profileErrorsSchema, spanSchema } from "./profileErrors";

/** A profile of the measured form: one or more engines as they were measured. */
export const measuredProfileSchema = z.strictObject({
  form: z.literal("measured"),
  id: z.string().min(1).max(80),
  name: z.string().min(1).max(120),
  /** The engine software's own word, such as "vllm" or "llama.cpp"; of several, that of the last measurement. */
  engine: z.string().min(1).max(40),
  engines: z.array(measuredEngineSchema).min(1).max(50),
  /** Cards of the models and GPUs that Weir does not ship: a plan needs nothing but the profile. */
  cards: userCardsSchema.optional(),
  /** Pooled over the engines. */
  errors: profileErrorsSchema.nullable(),
  fittedOn: z.strictObject({
    rows: z.int().positive(),
    setAside: z.int().nonnegative(),
    models: z.array(z.string()),
    gpus: z.array(z.string()),
    inputTokens: spanSchema,
    outputTokens: spanSchema,
    concurrency: spanSchema,
    asOf: z.iso.date(),
    emulated: z.boolean().optional(),
  }),
});
export type MeasuredProfile = z.infer<typeof measuredProfileSchema>;

/** A model on a GPU card, both by id, in a shape. */
interface Placed {
  readonly model: string;
  readonly gpu: string;
  readonly shape: ReplicaShape;
}

/** Whether two engines are the same model on the same GPU in the same shape, whatever their software. */
const isPlacedAs = (one: Placed, other: Placed): boolean =>
  one.model === other.model && one.gpu === other.gpu && one.shape.tp === other.shape.tp && one.shape.pp === other.shape.pp;

/** An engine of a profile, with its software. */
export type KeyedEngine = MeasuredEngine & { readonly engine: string };

/** Whether two measurements are of the same engine: of one software, with the same model on the same GPU in the same shape. */
const isSame = (one: KeyedEngine, other: KeyedEngine): boolean => one.engine === other.engine && isPlacedAs(one, other);

/** The engines of a profile, each with its software: an entry without its own has the profile's. */
const keyed = ({ engine, engines }: Pick<MeasuredProfile, "engine" | "engines">): readonly KeyedEngine[] =>
  engines.map((one) => ({ ...one, engine: one.engine ?? engine }));

/** The measurements of a model on a GPU in a shape, one for each software that was measured; the last one counts where nothing chooses. */
export const measurementsOf = (profile: MeasuredProfile, placed: Placed): readonly KeyedEngine[] =>
  keyed(profile).filter((engine) => isPlacedAs(engine, placed));

/** The measurement of a model on a GPU in a shape, of several softwares the last one; undefined where it was not measured. */
export const measuredOf = ({ engines }: MeasuredProfile, placed: Placed): MeasuredEngine | undefined =>
  engines.findLast((engine) => isPlacedAs(engine, placed));

/** The engine softwares of a profile's measurements. */
export const measuredSoftware = (profile: Pick<MeasuredProfile, "engine" | "engines">): readonly string[] => [
  ...new Set(keyed(profile).map(({ engine }) => engine)),
];

/** Whether a profile has a measurement of every engine of another. */
export const covers = (profile: MeasuredProfile, other: MeasuredProfile): boolean =>
  keyed(other).every((one) => keyed(profile).some((own) => isSame(own, one)));

/**
 * A profile for engines of known software. For each model, GPU and shape it keeps the measurement of that software. Without one it keeps the
 * last measurement of another software: the entry names both, and its percentile errors are dropped, since they validate no other software.
 *
 * @param softwareOf the engine software that serves a model on a GPU; null where it is not known, which keeps all measurements.
 */
export function measuredFor(
  profile: MeasuredProfile,
  softwareOf: (placed: Pick<Placed, "model" | "gpu">) => string | null,
): MeasuredProfile {
  const all = keyed(profile);
  const engines = all.flatMap((one): KeyedEngine[] => {
    const software = softwareOf(one);
    if (software === null || one.engine === software) return [one];
    const others = all.filter((other) => isPlacedAs(other, one));
    const isLeftOut = others.some(({ engine }) => engine === software) || others.at(-1) !== one;
    return isLeftOut ? [] : [{ ...one, standsInFor: software, p95Errors: null }];
  });
  const isWhole = engines.length === all.length && engines.every(({ standsInFor }) => standsInFor === undefined);
  return isWhole ? profile : measuredProfile({ ...profile, engine: engines.at(-1)?.engine ?? profile.engine }, engines);
}

/** A profile of measured engines; of those with the same software, model, GPU and shape the last counts. */
export function measuredProfile(
  { id, name, engine, cards }: Pick<MeasuredProfile, "id" | "name" | "engine" | "cards">,
  all: readonly MeasuredEngine[],
): MeasuredProfile {
  const own = keyed({ engine, engines: [...all] });
  const engines = own.filter((one, index) => !own.slice(index + 1).some((later) => isSame(one, later)));
  const on = engines.map(({ measuredOn }) => measuredOn);
  const span = (name: "inputTokens" | "outputTokens" | "concurrency") => ({
    least: Math.min(...on.map((one) => one[name].least)),
    most: Math.max(...on.map((one) => one[name].most)),
  });
  return {
    form: "measured",
    id,
    name,
    engine,
    engines,
    ...(cards === undefined ? {} : { cards }),
    errors: pooledErrors(engines),
    fittedOn: {
      rows: on.reduce((sum, { runs }) => sum + runs, 0),
      setAside: 0,
      models: [...new Set(engines.map(({ model }) => model))],
      gpus: [...new Set(engines.map(({ gpu }) => gpu))],
      inputTokens: span("inputTokens"),
      outputTokens: span("outputTokens"),
      concurrency: span("concurrency"),
      asOf: on.map(({ asOf }) => asOf).reduce((latest, day) => (day > latest ? day : latest)),
      ...(on.some(({ emulated }) => emulated) ? { emulated: true } : {}),
    },
  };
}

/** Errors over all engines by their rows; null where one has none, for nothing is known of it then. */
function pooledErrors(engines: readonly MeasuredEngine[]): MeasuredProfile["errors"] {
  const all = engines.flatMap(({ errors }) => errors ?? []);
  if (all.length < engines.length) return null;
  const pooled = (metric: "ttft" | "tpot" | "endToEnd") => {
    const rows = all.reduce((sum, errors) => sum + errors[metric].rows, 0);
    const by = (name: "meanAbsolute" | "p90Absolute" | "bias"): number =>
      rows === 0 ? 0 : all.reduce((sum, errors) => sum + errors[metric].rows * errors[metric][name], 0) / rows;
    return { rows, meanAbsolute: by("meanAbsolute"), p90Absolute: by("p90Absolute"), bias: by("bias") };
  };
  return { ttft: pooled("ttft"), tpot: pooled("tpot"), endToEnd: pooled("endToEnd") };
}

/** Errors of predicted percentiles on runs kept aside, those of the engine that is predicted worst; null where an engine has none. */
export function percentileErrors({ engines }: Pick<MeasuredProfile, "engines">): NonNullable<MeasuredEngine["p95Errors"]> | null {
  const all = engines.flatMap(({ p95Errors }) => (p95Errors === null || p95Errors.rows === 0 ? [] : [p95Errors]));
  const [worst] = [...all].sort((a, b) => b.p90Absolute - a.p90Absolute);
  return worst === undefined || all.length < engines.length ? null : worst;
}

/** One profile of the engines of several, under the name of the last; of those with the same software, model, GPU and shape the last counts. */
export function joinMeasured(profiles: readonly [MeasuredProfile, ...MeasuredProfile[]]): MeasuredProfile {
  const last = profiles.at(-1) ?? profiles[0];
  const cards = profiles.flatMap((one) => one.cards ?? []);
  const joined = cards.length === 0 ? undefined : cards.reduce(withCards);
  return measuredProfile({ ...last, cards: joined }, profiles.flatMap(keyed));
}

/** Cards with those of another set that they lack. */
export function withCards(own: UserCards, more: UserCards): UserCards {
  const lacking = <Card extends { readonly id: string }>(from: readonly Card[], has: readonly Card[]): readonly Card[] =>
    from.filter(({ id }) => has.every((card) => card.id !== id));
  return {
    models: [...own.models, ...lacking(more.models, own.models)],
    gpus: [...own.gpus, ...lacking(more.gpus, own.gpus)],
    prices: { ...more.prices, ...own.prices },
  };
}
