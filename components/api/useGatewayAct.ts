"use client";

import { actIn } from "./actIn";

/** Something an operator does to live traffic. */
export const useGatewayAct = actIn("clusters", "audit");
