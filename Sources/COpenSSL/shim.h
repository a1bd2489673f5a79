#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* TLS 1.2 at least, and no renegotiation; 1, or 0 where the library cannot. */
static inline int alina_forbid_the_old(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

/* Names the host we want in the clear, as several may live at one address. */
static inline int alina_name_server(SSL *ssl, const char *host) { return SSL_set_tlsext_host_name(ssl, host); }
