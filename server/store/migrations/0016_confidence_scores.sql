CREATE TABLE `confidence_scores` (
	`artefact_hash` text PRIMARY KEY NOT NULL,
	`models` text NOT NULL,
	`scores` blob NOT NULL,
	FOREIGN KEY (`artefact_hash`) REFERENCES `artefacts`(`hash`) ON UPDATE no action ON DELETE cascade
);
