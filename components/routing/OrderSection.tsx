"use client";

import { memo, useState } from "react";
import { placeNames } from "@/solver/lab/partNames";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { Button } from "../ui/Button";
import { ControlSection } from "./ControlSection";
import { OrderForm } from "./OrderForm";
import { orderUnder } from "./queueingText";

/** Which queued request goes first and to which replica, and the form that makes a plan with another order and place. */
export const OrderSection = memo(function OrderSection(props: {
  readonly clusterId: string;
  /** In force. */
  readonly planId: string;
  readonly policy: PolicyDocument;
}) {
  const { clusterId, planId, policy } = props;
  const [open, setOpen] = useState(false);
  return (
    <ControlSection
      testId="order"
      title="Order"
      wide={open}
      error={null}
      says={
        <span>
          {orderUnder(policy, policy.order.kind)}, to the {placeNames[policy.place.kind]}
        </span>
      }
      action={
        <Button aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Close order" : "Change order"}
        </Button>
      }
    >
      {open && <OrderForm key={planId} clusterId={clusterId} inForce={planId} />}
    </ControlSection>
  );
});
