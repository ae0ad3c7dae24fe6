import { Children, type ReactElement, type ReactNode } from "react";
import { expect, it } from "vitest";
import { PanelState, type PanelStatus } from "./PanelState";

const Form = () => null;

/** The position of a panel's content in the tree: content at the same position keeps its state. */
function placeOf(status: PanelStatus): { readonly around: unknown; readonly key: unknown } {
  const panel = PanelState({ status, children: () => <Form /> }) as ReactElement<{ readonly children: ReactNode }>;
  const form = Children.toArray(panel.props.children).find((child) => (child as ReactElement).type === Form);
  return { around: panel.type, key: (form as ReactElement | undefined)?.key };
}

it("keeps what is typed below while it turns stale and back", () => {
  const ready = placeOf({ kind: "ready" });
  expect(ready.key).toBeDefined();
  expect(placeOf({ kind: "stale", note: "no answer" })).toEqual(ready);
  expect(placeOf({ kind: "partial", note: "no power" })).toEqual(ready);
});
