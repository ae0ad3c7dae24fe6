"use client";

import { useMemo } from "react";
import type { FrontierView } from "./frontierCodec";

/** The frontier's part of a view. It keeps its identity while it says the same: every change of the address is parsed anew. */
export function useFrontierView({ xAxis, yAxis, brush, baselines, pins }: FrontierView): FrontierView {
  const text = JSON.stringify({ xAxis, yAxis, brush, baselines, pins });
  return useMemo(() => JSON.parse(text) as FrontierView, [text]);
}
