CREATE TABLE `answer_samples` (
	`id` text PRIMARY KEY NOT NULL,
	`created_at` text NOT NULL,
	`summary` text NOT NULL,
	`data` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `batch_calls` (
	`batch_id` text NOT NULL,
	`stage` text NOT NULL,
	`position` integer NOT NULL,
	`model` text NOT NULL,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`lost` integer DEFAULT 0 NOT NULL,
	`at` text NOT NULL,
	`engine` text,
	`input_tokens` integer,
	`output_tokens` integer,
	`seconds` real,
	`failure` text,
	`vote` text,
	`answer` text,
	PRIMARY KEY(`batch_id`, `stage`, `position`, `model`),
	FOREIGN KEY (`batch_id`) REFERENCES `batches`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `batch_sessions` (
	`batch_id` text NOT NULL,
	`stage` text NOT NULL,
	`worker` integer NOT NULL,
	`turn` integer NOT NULL,
	`state` text NOT NULL,
	`load_seconds` real,
	`seconds` real,
	PRIMARY KEY(`batch_id`, `stage`, `worker`, `turn`),
	FOREIGN KEY (`batch_id`) REFERENCES `batches`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `batches` (
	`id` text PRIMARY KEY NOT NULL,
	`created_at` text NOT NULL,
	`ended_at` text,
	`actor` text NOT NULL,
	`cluster_id` text NOT NULL,
	`prompt_set_id` text NOT NULL,
	`order` text NOT NULL,
	`state` text NOT NULL,
	`pause` text,
	FOREIGN KEY (`cluster_id`) REFERENCES `clusters`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`prompt_set_id`) REFERENCES `prompt_sets`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `ensembles` (
	`name` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`actor` text NOT NULL,
	`document` text,
	PRIMARY KEY(`name`, `version`)
);
--> statement-breakpoint
CREATE TABLE `session_rows` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at` text NOT NULL,
	`row` text NOT NULL
);
