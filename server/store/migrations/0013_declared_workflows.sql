CREATE TABLE `declared_workflows` (
	`name` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`actor` text NOT NULL,
	`origin` text NOT NULL,
	`document` text,
	PRIMARY KEY(`name`, `version`)
);
