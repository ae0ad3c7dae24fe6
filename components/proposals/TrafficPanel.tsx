export { DriftPanel as TrafficPanel } from "./DriftPanel";
