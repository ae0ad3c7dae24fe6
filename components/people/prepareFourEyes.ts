interface FourEyes {
  /** How approvals work now. */
  readonly says: string;
  /** What is missing for it to work; null: nothing. */
  readonly warning: string | null;
  /** What a change does, before it is confirmed. */
  readonly change: string;
}

/** @param approvers names of the people who may approve plans; null: not known yet */
export function prepareFourEyes(isOn: boolean, approvers: readonly string[] | null): FourEyes {
  const [first, ...others] = approvers ?? [];
  const lone = first !== undefined && others.length === 0;
  const nobodyElse = `Only ${first} may approve, so nobody could approve a plan that ${first} made: give another person the role approver.`;
  return {
    says: isOn
      ? "On: who saved a plan first cannot approve it. An API token counts as the person who made it."
      : "Off: who may approve plans may approve their own.",
    warning: lone && isOn ? nobodyElse : null,
    change: isOn
      ? "From then on people may approve plans that they made themselves. The change has an audit line."
      : `From then on the approval of a plan by the person who saved it first is refused, also by an API token of that person. Approvals that were given stay valid. ${lone ? nobodyElse : ""}`.trim(),
  };
}
