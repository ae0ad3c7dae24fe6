CREATE TABLE `engine_identities` (
	`cluster_id` text NOT NULL,
	`engine_id` text NOT NULL,
	`model` text NOT NULL,
	`type` text NOT NULL,
	`version` text,
	`since_ms` integer NOT NULL,
	`resets_ms` text NOT NULL,
	PRIMARY KEY(`cluster_id`, `engine_id`)
);
