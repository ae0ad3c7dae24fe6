import type { ModelIdentity } from "./modelIdentity";

/** The square with a model's letter in its hue; wider where a number follows the letter. */
export function ModelMark({ identity }: { readonly identity: ModelIdentity }) {
  return (
    <span
      aria-hidden="true"
      className="inline-flex h-4 min-w-4 shrink-0 items-center justify-center rounded-[3px] border px-px text-[10px] leading-none font-semibold"
      style={{ borderColor: identity.hue, background: `color-mix(in oklab, ${identity.hue} 24%, var(--panel))` }}
    >
      {identity.letter}
    </span>
  );
}

/** A model's name after its mark. */
export function ModelChip({ identity }: { readonly identity: ModelIdentity }) {
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <ModelMark identity={identity} />
      {identity.model}
    </span>
  );
}

/** A model's chip, or its bare name where it has no identity on this page. */
export function ModelName({ model, identities }: { readonly model: string; readonly identities: ReadonlyMap<string, ModelIdentity> }) {
  const identity = identities.get(model);
  return identity === undefined ? model : <ModelChip identity={identity} />;
}
