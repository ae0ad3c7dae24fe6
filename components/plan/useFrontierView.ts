"use client";

import type { FrontierView } from "./frontierCodec";
import { useByText } from "./useByText";

/** The frontier's part of a view. It keeps its identity while it says the same: every change of the address is parsed anew. */
export function useFrontierView({ xAxis, yAxis, brush, baselines, pins }: FrontierView): FrontierView {
  return useByText({ xAxis, yAxis, brush, baselines, pins });
}
