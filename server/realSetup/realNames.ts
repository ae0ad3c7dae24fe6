/** The models, smallest first: also the ids of their cards. */
export const realModelNames = ["arith-small", "arith-large"] as const;

/** The cluster's name on every page. */
export const realClusterName = "Real models on this computer";

/** The add-on with the engine. */
export const engineAddon = "real-engine";
