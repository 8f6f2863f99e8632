"""The system calls that a parser has no use for, with their numbers: the kernel's syscall tables, which never change."""

# name: (x86_64, aarch64); None where the architecture has no such call.
REFUSED: dict[str, tuple[int | None, int | None]] = {
    # The network; the connection to the parent is open already, and is read and written like a file.
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "accept4": (288, 242), "sendto": (44, 206), "sendmsg": (46, 211), "sendmmsg": (307, 269),
    "recvfrom": (45, 207), "recvmsg": (47, 212), "recvmmsg": (299, 243),
    # Other programs and processes; threads come by `clone`, which is judged by its flags.
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, None), "vfork": (58, None), "kill": (62, 129),
    "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "process_madvise": (440, 440), "kcmp": (312, 272),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "msgget": (68, 186),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "semctl": (66, 191), "semop": (65, 193), "semtimedop": (220, 192),
    "msgctl": (71, 187), "msgsnd": (69, 189), "msgrcv": (70, 188), "get_robust_list": (274, 100),
    # How other processes are scheduled, and where their memory lies.
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274),
    "move_pages": (279, 239), "migrate_pages": (256, 238),
    # Files; opening for writing is judged by the flags of `open` and `openat`.
    "creat": (85, None), "truncate": (76, 45), "ftruncate": (77, 46), "rename": (82, None), "renameat": (264, 38),
    "renameat2": (316, 276), "mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None), "link": (86, None),
    "linkat": (265, 37), "unlink": (87, None), "unlinkat": (263, 35), "symlink": (88, None), "symlinkat": (266, 36),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "mknod": (133, None), "mknodat": (259, 33), "setxattr": (188, 5),
    "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16), "open_by_handle_at": (304, 265), "flock": (73, 32), "inotify_init": (253, None),
    "inotify_init1": (294, 26), "fanotify_init": (300, 262), "fanotify_mark": (301, 263),
    # Pages moved between descriptors, by which kernels have let others write to what is open for reading.
    "splice": (275, 76), "vmsplice": (278, 75), "tee": (276, 77),
    # Ways into the kernel, other namespaces and other rights.
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142),
    "sethostname": (170, 161), "setdomainname": (171, 162), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "acct": (163, 89),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145),
    "setregid": (114, 143), "setresuid": (117, 147), "setresgid": (119, 149), "setfsuid": (122, 151),
    "setfsgid": (123, 152), "setgroups": (116, 159), "capset": (126, 91), "personality": (135, 92), "iopl": (172, None),
    "ioperm": (173, None), "modify_ldt": (154, None), "uselib": (134, None),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171), "syslog": (103, 116), "vhangup": (153, 58), "setrlimit": (160, 164),
}  # fmt: skip
# Refused as unknown, so that the C library takes the older call, whose flags can be judged.
UNKNOWN = {"clone3": (435, 435), "openat2": (437, 437)}
# Judged by their arguments.
OPEN, OPENAT, CLONE, PRLIMIT64 = (2, None), (257, 56), (56, 220), (302, 261)
FCNTL, IOCTL = (72, 25), (16, 29)
# What may be asked of a descriptor: copies, flags and seals. Its owner gets signals, and its locks keep others waiting.
FCNTL_COMMANDS = (0, 1, 2, 3, 4, 1030, 1032, 1033, 1034)
# What may be asked of a driver: terminal or not, its size, how much can be read, whether it blocks and is closed by exec.
IOCTL_REQUESTS = (0x5401, 0x802C_542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
PRCTL = (157, 167)
# What a process may set of itself: its name, and names of its memory. It keeps the signal for its parent's end.
PRCTL_OPTIONS = (15, 16, 0x5356_4D41)
LANDLOCK_RULESET, LANDLOCK_RULE, LANDLOCK_RESTRICT = 444, 445, 446
NEWEST = 462  # mseal; what came later is refused as unknown
