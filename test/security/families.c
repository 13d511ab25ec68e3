/* Opens one socket of each family, and sends where nothing must arrive. Prints errno of each, 0 when it worked. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *separator = "{";

static void report(const char *name, long result) {
  printf("%s\"%s\":%d", separator, name, result < 0 ? errno : 0);
  separator = ",";
}

static void try_socket(const char *name, int family, int type, int protocol) {
  int fd = socket(family, type, protocol);
  report(name, fd);
  if (fd >= 0) close(fd);
}

static void try_send(const char *name, int family, const char *address, unsigned scope) {
  int fd = socket(family, SOCK_DGRAM, 0);
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(53)};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(53), .sin6_scope_id = scope};
  inet_pton(AF_INET, address, &v4.sin_addr);
  inet_pton(AF_INET6, address, &v6.sin6_addr);
  struct sockaddr *to = family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
  report(name, sendto(fd, "x", 1, 0, to, family == AF_INET ? sizeof v4 : sizeof v6));
  close(fd);
}

int main(int argc, char **argv) {
  try_socket("tcp", AF_INET, SOCK_STREAM, 0);
  try_socket("udp", AF_INET6, SOCK_DGRAM, 0);
  try_socket("unix", AF_UNIX, SOCK_STREAM, 0);
  try_socket("netlink_route", AF_NETLINK, SOCK_RAW, 0);
  try_socket("icmp_raw", AF_INET, SOCK_RAW, IPPROTO_ICMP);
  try_socket("icmp_ping", AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
  try_socket("icmp6_raw", AF_INET6, SOCK_RAW, IPPROTO_ICMPV6);
  try_socket("icmp6_ping", AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6);
  try_socket("ip_raw", AF_INET, SOCK_RAW, IPPROTO_RAW);
  try_socket("ip_packet", AF_INET, SOCK_PACKET, 0x0300);
  try_socket("sctp", AF_INET, SOCK_STREAM, IPPROTO_SCTP);
  try_socket("udplite", AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE);
  try_socket("mptcp", AF_INET, SOCK_STREAM, 262);
  try_socket("packet", AF_PACKET, SOCK_RAW, 0x0300);
  try_socket("packet_dgram", AF_PACKET, SOCK_DGRAM, 0x0300);
  try_socket("vsock", AF_VSOCK, SOCK_STREAM, 0);
  try_socket("alg", AF_ALG, SOCK_SEQPACKET, 0);
  try_socket("key", AF_KEY, SOCK_RAW, 2);
  try_socket("bluetooth", AF_BLUETOOTH, SOCK_RAW, 1);
  try_socket("can", AF_CAN, SOCK_RAW, 1);
  try_socket("tipc", AF_TIPC, SOCK_STREAM, 0);
  try_socket("xdp", 44, SOCK_RAW, 0);
  try_socket("smc", 43, SOCK_STREAM, 0);
  try_socket("netlink_uevent", AF_NETLINK, SOCK_RAW, 15);
  try_socket("netlink_audit", AF_NETLINK, SOCK_RAW, 9);
  try_socket("netlink_netfilter", AF_NETLINK, SOCK_RAW, 12);
  try_socket("netlink_generic", AF_NETLINK, SOCK_RAW, 16);
  if (argc > 1) {
    try_send("send_public", AF_INET, "198.51.100.1", 0);
    try_send("send_public6", AF_INET6, "2001:db8::1", 0);
    try_send("send_link_local", AF_INET6, "fe80::1", 1);
    try_send("send_multicast", AF_INET, "224.0.0.251", 0);
    try_send("send_broadcast", AF_INET, "255.255.255.255", 0);
  }
  printf("}\n");
  return 0;
}
