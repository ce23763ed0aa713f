# SPDX-License-Identifier: GPL-2.0-only
# Usage: awk -v program=./opprobe -v version=N -f page.awk user/man/NAME.SECTION
#
# Make a manual page of its source, which is mdoc(7) with
#
#	.\" @options COMMAND
#	.\" @option NAME
#	more about the option --NAME of the command
#	.\" @end
#	.\" @markdown FILE
#
# In the first place come all options of the command, as it says itself that it has them, each
# with its text of --help and what more there is. An option that is not there
# fails. In the second comes a document of ours.

function fail(sentence) {
	print FILENAME ":" FNR ": " sentence >"/dev/stderr"
	failed = 1
	exit 1
}

# A line per sentence, none of which is taken for a request.
function sentences(text,   out) {
	while (match(text, /[A-Za-z0-9)]\. [A-Z]/)) {
		out = out substr(text, 1, RSTART + 1) "\n"
		text = substr(text, RSTART + 3)
	}
	out = out text
	return out ~ /^[.']/ ? "\\&" out : out
}

# Text of --help as mdoc.
function mdoc(text) {
	gsub(/\\/, "\\e", text)
	gsub(/`/, "\\(ga", text)
	gsub(/'/, "\\(aq", text)
	gsub(/~/, "\\(ti", text)
	gsub(/\^/, "\\(ha", text)
	gsub(/-/, "\\-", text)
	if (text !~ /[.:]$/)
		text = text "."
	return sentences(text)
}

function item(names, argument, optional,   parts, n, i, line) {
	n = split(names, parts, ",")
	for (i = 1; i <= n; i++) {
		if (parts[i] == "-?")
			continue
		line = line (line ? " , " : "") "Fl " substr(parts[i], 2)
	}
	if (argument && optional)
		line = line " Ns Oo = Ns Ar " argument " Oc"
	else if (argument)
		line = line " Ar " argument
	return ".It " line
}

function print_options(   ask, line, field, n, names, i, heading, shown) {
	ask = "'" program "' help --options " command
	while ((ask | getline line) > 0) {
		split(line, field, "\t")
		if (field[4] != heading || !shown) {
			if (shown)
				print ".El"
			if (field[4])
				print ".Pp\n" mdoc(field[4])
			print ".Bl -tag -width Ds"
			heading = field[4]
		}
		shown++
		print item(field[1], field[2], field[3])
		print mdoc(field[5])
		n = split(field[1], names, ",")
		for (i = 1; i <= n; i++) {
			sub(/^-+/, "", names[i])
			if (names[i] in more) {
				print ".Pp"
				printf "%s", more[names[i]]
				delete more[names[i]]
			}
		}
	}
	if (close(ask) || !shown)
		fail("'" program "' does not tell the options of " command)
	print ".El"
	for (i in more)
		fail("there is no option --" i " of " command)
}

# -- documents: headings, paragraphs, tables, `code`, **bold** and [links](to) ------------

function inline(text) {
	while (match(text, /\[[^]]*\]\([^)]*\)/)) {
		link = substr(text, RSTART + 1, RLENGTH - 2)
		sub(/\]\(/, " (", link)
		text = substr(text, 1, RSTART - 1) link ")" substr(text, RSTART + RLENGTH)
	}
	gsub(/\\/, "\\e", text)
	gsub(/\^/, "\\(ha", text)
	while (match(text, /`[^`]*`/))
		text = substr(text, 1, RSTART - 1) "\\fB" substr(text, RSTART + 1, RLENGTH - 2) \
			"\\fP" substr(text, RSTART + RLENGTH)
	while (match(text, /\*\*[^*]*\*\*/))
		text = substr(text, 1, RSTART - 1) "\\fB" substr(text, RSTART + 2, RLENGTH - 4) \
			"\\fP" substr(text, RSTART + RLENGTH)
	return sentences(text)
}

function end_paragraph() {
	if (paragraph)
		print (headed ? "" : ".Pp\n") inline(paragraph)
	if (paragraph)
		headed = 0
	paragraph = ""
}

function end_table() {
	if (table)
		print ".El"
	table = 0
}

# "| 0 | 8 bytes | text |", once it is known not to be a heading
function row(line,   cell, n) {
	gsub(/^\| */, "", line)
	gsub(/ *\|$/, "", line)
	n = split(line, cell, / *\| */)
	if (!table++)
		print ".Bl -tag -width Ds"
	if (cell[1] == "")
		cell[1] = "..."
	print ".It " cell[1] (n > 2 && cell[2] ? " , " cell[2] : "")
	print inline(cell[n])
	headed = 0
}

function print_document(path,   line, got) {
	while ((got = (getline line < path)) > 0) {
		if (held && line !~ /^\| *---/)
			row(held)
		held = ""
		if (line ~ /^\| *---/) {
			continue
		} else if (line ~ /^\|/) {
			end_paragraph()
			held = line
		} else if (line ~ /^#/) {
			end_paragraph()
			end_table()
			if (sub(/^##+ */, "", line)) {
				print ".Ss " line
				headed = 1
			}
		} else if (line == "") {
			end_paragraph()
			end_table()
		} else {
			paragraph = paragraph (paragraph ? " " : "") line
		}
	}
	if (got)
		fail("cannot read " path)
	end_paragraph()
	end_table()
}

$1 == ".\\\"" && $2 == "@markdown" {
	headed = 1
	print_document($3)
	next
}
$1 == ".\\\"" && $2 == "@options" {
	command = $3
	within = 1
	option = ""
	next
}
within && $1 == ".\\\"" && $2 == "@option" {
	option = $3
	next
}
within && $1 == ".\\\"" && $2 == "@end" {
	within = 0
	print_options()
	next
}
within && option {
	more[option] = more[option] $0 "\n"
	next
}
{
	gsub(/@VERSION@/, version)
	print
}
END {
	if (!failed && within)
		fail("no @end")
}
