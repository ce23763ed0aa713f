// SPDX-License-Identifier: GPL-2.0-only
#include "certificate.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>

#include "followed.h"

#define TEXT_MAX (64 << 10) /* bytes of a file: a chain of a dozen large certificates */

enum { CHAIN, KEY, FILES };

/* What both files hold, with a zero byte behind each. */
struct pair {
	char texts[FILES][TEXT_MAX + 1];
};

struct certificate {
	struct followed files[FILES];
	unsigned int failures; /* looks that found none, one after the other */
	struct pair used, fresh;
};

/* -- the files ----------------------------------------------------------------------------- */

static int read_pair(struct certificate *certificate, struct pair *pair, struct error *err)
{
	for (int i = 0; i < FILES; i++) {
		struct followed *file = &certificate->files[i];
		ssize_t n = followed_read(file, pair->texts[i], TEXT_MAX + 1, err);

		if (n < 0)
			return (int)n;
		if (n > TEXT_MAX)
			return error_set(err, -EFBIG, "%s in %s has more than %d kB: is it PEM?",
					 file->what, file->path, TEXT_MAX >> 10);
		pair->texts[i][n] = '\0';
	}
	return 0;
}

/* Which of the two is it, that is wrong with @error of GnuTLS? */
static int refuse(const struct certificate *certificate, int error, struct error *err)
{
	const char *path = certificate->files[CHAIN].path, *key = certificate->files[KEY].path;

	if (error == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		return error_set(err, -EINVAL,
				 "the key in %s is not that of the certificate in %s: let both be "
				 "of the same request",
				 key, path);
	return error_set(
		err, -EINVAL,
		"the certificate in %s cannot be used with the key in %s: let both be PEM, "
		"and the key without a password (GnuTLS: %s)",
		path, key, gnutls_strerror(error));
}

/* Do they belong to each other, by the library that is to use them? */
static int check(const struct certificate *certificate, struct pair *pair, struct error *err)
{
	gnutls_datum_t data[FILES];
	gnutls_certificate_credentials_t credentials;
	int error;

	for (int i = 0; i < FILES; i++)
		data[i] = (gnutls_datum_t){.data = (unsigned char *)pair->texts[i],
					   .size = (unsigned int)strlen(pair->texts[i])};
	error = gnutls_certificate_allocate_credentials(&credentials);
	if (error < 0)
		return refuse(certificate, error, err);
	error = gnutls_certificate_set_x509_key_mem(credentials, &data[CHAIN], &data[KEY],
						    GNUTLS_X509_FMT_PEM);
	gnutls_certificate_free_credentials(credentials);
	return error < 0 ? refuse(certificate, error, err) : 0;
}

static int read_checked(struct certificate *certificate, struct pair *pair, struct error *err)
{
	return read_pair(certificate, pair, err) ?: check(certificate, pair, err);
}

/* -- life ---------------------------------------------------------------------------------- */

struct certificate *certificate_new(const char *path, const char *key_path, struct error *err)
{
	struct certificate *certificate = calloc(1, sizeof(*certificate));

	if (!certificate) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	certificate->files[CHAIN] = (struct followed){.path = path, .what = "a certificate"};
	certificate->files[KEY] = (struct followed){.path = key_path, .what = "a key"};
	if (!read_checked(certificate, &certificate->used, err))
		return certificate;
	certificate_free(certificate);
	return NULL;
}

struct certificate_texts certificate_texts(const struct certificate *certificate)
{
	return (struct certificate_texts){.chain = certificate->used.texts[CHAIN],
					  .key = certificate->used.texts[KEY]};
}

static bool same(const struct pair *x, const struct pair *y)
{
	return !strcmp(x->texts[CHAIN], y->texts[CHAIN]) && !strcmp(x->texts[KEY], y->texts[KEY]);
}

int certificate_follow(struct certificate *certificate, struct error *err)
{
	int error;

	/* Where the first one cannot be read, the other one is not. */
	if (!followed_due(&certificate->files[CHAIN]) || !followed_due(&certificate->files[KEY]))
		return 0;
	error = read_checked(certificate, &certificate->fresh, err);
	certificate->failures = error ? certificate->failures + 1 : 0;
	if (error)
		return certificate->failures == 2 ? error : 0;
	if (same(&certificate->used, &certificate->fresh))
		return 0;
	certificate->used = certificate->fresh;
	return 1;
}

void certificate_free(struct certificate *certificate)
{
	if (!certificate)
		return;
	explicit_bzero(certificate, sizeof(*certificate));
	free(certificate);
}
