#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* Requires TLS 1.2, and disables renegotiation, session resumption and buffers of idle connections; returns 1, or 0
 * if the library does not support this. */
static inline int alina_harden(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  return SSL_CTX_set_num_tickets(context, 0) == 1 && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
}

/* Sets the server name to send (unencrypted), as several hosts may share an address. */
static inline int alina_name_server(SSL *ssl, const char *host) { return SSL_set_tlsext_host_name(ssl, host); }

/* Adds a certificate to the chain that is presented. */
static inline int alina_show_also(SSL_CTX *context, X509 *certificate) {
  return SSL_CTX_add1_chain_cert(context, certificate);
}
