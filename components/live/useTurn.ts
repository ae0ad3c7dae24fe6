export { useBeat as useTurn } from "./useBeat";
