import type { ArrivalsGround } from "@/server/planning/arrivals/findArrivals";
import { previewArrivals } from "@/server/planning/arrivals/previewArrivals";
import type { ArrivalsService } from "../base/profilingServices";

/** Arrivals before they are joined to anything. */
export const createArrivalsService = (ground: ArrivalsGround): ArrivalsService => ({ preview: (order) => previewArrivals(order, ground) });
