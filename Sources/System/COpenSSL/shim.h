#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* Requires TLS 1.2, and disables renegotiation, session resumption and buffers of idle connections.
 * Returns 1, or 0 if OpenSSL refuses one of the settings. */
static inline int alina_harden(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  return SSL_CTX_set_num_tickets(context, 0) == 1 && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
}

/* Sets the server name to send (unencrypted), because several hosts may share an address. */
static inline int alina_name_server(SSL *ssl, const char *host) { return SSL_set_tlsext_host_name(ssl, host); }

/* Adds a certificate to the chain that the server sends. */
static inline int alina_show_also(SSL_CTX *context, X509 *certificate) {
  return SSL_CTX_add1_chain_cert(context, certificate);
}

/* Makes a P-256 key; returns NULL if the library cannot make one. */
static inline EVP_PKEY *alina_make_key(void) { return EVP_EC_gen("P-256"); }

static inline int alina_extend(X509 *certificate, int kind, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
  int done = extension && X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return done;
}

/* Fills an empty certificate for a server with these names ("DNS:localhost,IP:127.0.0.1") and signs it with its own key.
* The certificate is valid from an hour ago, because clocks differ. Returns 1, or 0 if OpenSSL fails. */
static inline int alina_sign_itself(X509 *certificate, EVP_PKEY *key, uint64_t serial, const char *name, const char *names,
                                    long seconds) {
  X509_NAME *subject = X509_get_subject_name(certificate);
  return X509_set_version(certificate, 2) && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) &&
         X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), seconds) &&
         X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0) &&
         X509_set_issuer_name(certificate, subject) && X509_set_pubkey(certificate, key) &&
         alina_extend(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
         alina_extend(certificate, NID_subject_alt_name, names) && X509_sign(certificate, key, EVP_sha256()) > 0;
}
