import type { LabSystem } from "./labSpec";

/**
 * The suffix that distinguishes each system from others of its name: the slack or the margin, or both where both differ ("τ 0.5", "margin
 * 0.1"), the width of the beam ("B 4"), else its number among them ("#2"); empty where it is the only one.
 */
export function systemVariants(systems: readonly Pick<LabSystem, "name" | "policy">[]): readonly string[] {
  return systems.map((system, index) => {
    const namesakes = systems.filter(({ name }) => name === system.name);
    if (namesakes.length === 1) return "";
    const texts = slackTexts(namesakes) ?? beamTexts(namesakes);
    const before = systems.slice(0, index).filter(({ name }) => name === system.name).length;
    return texts !== null && new Set(texts).size === namesakes.length ? (texts[before] ?? "") : `#${before + 1}`;
  });
}

/** Names of systems, each with its distinguishing suffix. */
export function systemLabels(systems: readonly Pick<LabSystem, "name" | "policy">[]): readonly string[] {
  const variants = systemVariants(systems);
  return systems.map(({ name }, index) => (variants[index] ? `${name}, ${variants[index]}` : name));
}

/** The parts of each system's slack that differ between systems; null where one has none. */
function slackTexts(systems: readonly Pick<LabSystem, "policy">[]): readonly string[] | null {
  const slacks = systems.flatMap(({ policy }) => (policy.kind === "slack" ? [policy] : []));
  if (slacks.length < systems.length) return null;
  const differs = (part: "tau" | "deltaScore") => new Set(slacks.map((policy) => policy[part])).size > 1;
  const [byTau, byMargin] = [differs("tau"), differs("deltaScore")];
  return slacks.map(({ tau, deltaScore }) => [...(byTau ? [`τ ${tau}`] : []), ...(byMargin ? [`margin ${deltaScore}`] : [])].join(", "));
}

/** The width of each system's beam; null where one has no beam search. */
function beamTexts(systems: readonly Pick<LabSystem, "policy">[]): readonly string[] | null {
  const widths = systems.flatMap(({ policy }) =>
    policy.kind === "just-in-time" && policy.selection.kind === "beam" ? [policy.selection.width] : [],
  );
  return widths.length < systems.length ? null : widths.map((width) => `B ${width}`);
}
